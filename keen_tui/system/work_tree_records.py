"""Records of the git work trees that Keen made: where each one is, and which project it belongs to.

Only Keen writes them: commands can't reach the data folder, apart from the work tree itself. So what a record
says of a repository can be believed, unlike the file `.git` in a work tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from keen_tui.system.atomic_write import put_file
from keen_tui.system.folders import make_private, workspace_folder
from keen_tui.system.paths import data_folder
from keen_tui.system.safe_read import content_of

FOLDER: Final = "worktrees"
"""Name of the folder in the data folder."""
_RECORDS: Final = ".records"
_MOST_BYTES: Final = 100_000
_OF_PROJECT: Final = re.compile(r"(.+)-[0-9a-f]{12}")


class WorkTreeRecord(Struct, frozen=True, kw_only=True):
    """A work tree that Keen made.

    `project` is the top folder of the work tree that it was made from, `common` the repository that both
    share, `git` its own folder in there ("" until git has made it). `base` is the branch that was checked out
    in the project, "" for none, and `commit` the commit of that moment. `made` is in seconds since the epoch.
    `agent` is the sub-agent that it was made for, "" for none.
    """

    name: str
    project: str
    common: str
    git: str
    branch: str
    base: str
    commit: str
    made: float
    agent: str = ""


def trees_folder(data: Path, project: Path) -> Path:
    """The folder of a project's work trees."""
    return workspace_folder(Path(os.path.realpath(data), FOLDER), project)


def tree_label(folder: Path) -> str:
    """What a folder is called for people if it looks like a work tree of Keen's, even one that is gone:
    "shop (work tree fix)"; "" for every other folder. Pure."""
    project = _OF_PROJECT.fullmatch(folder.parent.name)
    if not project or folder.parent.parent.name != FOLDER:
        return ""
    return f"{project[1]} (work tree {folder.name})"


def record_file(tree: Path) -> Path:
    """Where the record of the work tree in that folder is."""
    return tree.parent / _RECORDS / f"{tree.name}.json"


def read_record(tree: Path) -> WorkTreeRecord | None:
    """The record of the work tree in that folder; None if there is none that can be read."""
    try:
        content = content_of(record_file(tree), most=_MOST_BYTES)
        return msgspec.json.decode(content, type=WorkTreeRecord) if content else None
    except (OSError, msgspec.MsgspecError):
        return None


def write_record(tree: Path, record: WorkTreeRecord) -> None:
    """Write the record of the work tree in that folder. Raises OSError."""
    file = record_file(tree)
    make_private(file.parent)
    text = msgspec.json.format(msgspec.json.encode(record))
    put_file(file, text, content_of(file, most=_MOST_BYTES), mode=0o600)


def forget_record(tree: Path) -> None:
    """Remove the record of the work tree in that folder. Raises OSError."""
    record_file(tree).unlink(missing_ok=True)


def recorded(data: Path, project: Path | None = None) -> Iterator[tuple[Path, WorkTreeRecord]]:
    """The folders of all work trees, or of a project's, with their records, in the order of their names."""
    top = Path(os.path.realpath(data), FOLDER)
    folders = [trees_folder(data, project)] if project else sorted(_entries(top))
    for folder in folders:
        for file in sorted(_entries(folder / _RECORDS)):
            tree = folder / file.stem
            if file.suffix == ".json" and (record := read_record(tree)):
                yield tree, record


def tree_at(folder: Path, environ: Mapping[str, str]) -> tuple[Path, WorkTreeRecord] | None:
    """The work tree of Keen's that the folder is in, and its record; None if it is in none. Blocks."""
    top = Path(os.path.realpath(data_folder(environ)), FOLDER)
    real = Path(os.path.realpath(folder))
    if top not in real.parents:
        return None
    parts = real.relative_to(top).parts
    if len(parts) < 2:
        return None
    tree = top / parts[0] / parts[1]
    record = read_record(tree)
    return (tree, record) if record else None


def project_folder(folder: Path, environ: Mapping[str, str]) -> Path:
    """The folder whose settings, trust and allowances count in `folder`: of a work tree of Keen's the same
    folder of its project, otherwise the folder itself. Blocks."""
    found = tree_at(folder, environ)
    if not found:
        return folder
    tree, record = found
    return Path(record.project) / Path(os.path.realpath(folder)).relative_to(tree)


def is_work_tree(folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether the folder is the top of a finished work tree of Keen's. Blocks."""
    found = tree_at(folder, environ)
    return found is not None and found[0] == Path(os.path.realpath(folder)) and bool(found[1].git)


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return list(folder.iterdir())
    return []
