"""Saves the commits of a command that ran when Keen was killed.

Commands could write the shadow. So its objects come back with the usual checks, and nothing else does: the
commits get names under refs/keen, and no branch of the person moves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ConfigError, WorkTreeFailed
from keen_tui.system.folders import change_mode, opened_folder
from keen_tui.system.safe_read import content_of
from keen_tui.system.trees import remove_tree
from keen_tui.text.sanitize import clean
from keen_tui.tools.files.git_place import git_place
from keen_tui.tools.git.folder_stamps import FolderStamps
from keen_tui.tools.git.git_data import objects_in, only_names_objects
from keen_tui.tools.git.gitlinks import REPOSITORY_AMONG_PACKAGES, gitlinks_among_packages
from keen_tui.tools.git.new_objects import DamagedObjects, NewObjects
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.refs import RefReader, bring_refs_back, kept_name
from keen_tui.tools.git.repository_part import PASSED_OVER
from keen_tui.tools.sandbox.scratch import kept_folders

_KILLED: Final = "Keen was killed while a command ran. The commits of that command"
_SAVED: Final = f"{_KILLED} are saved as {{}}; your branches are unchanged."
_LOST: Final = f"{_KILLED} couldn't be brought back ({{}})."
_MOST_NAMED: Final = 5
_LARGEST: Final = 5_000_000
_NEW: Final = ("rev-list", "--stdin", "--objects", "--filter=tree:0", "--not", "--all", "--reflog")
"""Lists the commits and tags that no ref and no reflog leads to."""


def saved_commits(workspace: Path, scratch: Path) -> list[str]:
    """Save what killed programs left in shadows of the workspace's repository, which are in `scratch`, and
    remove these shadows. Returns sentences for the person. Blocks."""
    said: list[str] = []
    place = git_place(workspace, Path(os.path.realpath(Path.home())))
    if place is None:
        return said
    for folder in kept_folders(Path(os.path.realpath(scratch)), place.common):
        try:
            if refs := _saved(folder, place.common, OwnGit()):
                named = ", ".join(refs[:_MOST_NAMED]) + ", ..." * (len(refs) > _MOST_NAMED)
                said.append(_SAVED.format(named))
        except DamagedObjects as error:
            said.append(_LOST.format(error))
        except (ConfigError, OSError, WorkTreeFailed):
            continue  # the next start tries again
        remove_tree(folder)
    return list(map(clean, said))


def _saved(folder: Path, common: Path, git: OwnGit) -> list[str]:
    """Bring new commits and tags home; returns the refs that name them. Raises DamagedObjects if the shadow
    can't be taken, and OSError and WorkTreeFailed if the repository can't be written."""

    def ran(*words: str, given: bytes = b"") -> bytes:
        return git.output(common, f"--git-dir={common}", *words, given=given)

    try:
        with opened_folder(folder / "git") as shadow:
            change_mode(shadow, 0o755)
        named = dict(_named(folder / "git"))
    except (OSError, ValueError) as error:
        raise DamagedObjects(getattr(error, "strerror", None) or str(error)) from error
    NewObjects(folder / "git", common, folder / "private", git).bring_back()
    if named and any(gitlinks_among_packages(ran, named)):
        raise DamagedObjects(REPOSITORY_AMONG_PACKAGES)
    kinds = ran("cat-file", "--batch-check", given="\n".join(named).encode()).splitlines()
    there = [row.split()[0] for row in kinds if row.split()[1:2] in ([b"commit"], [b"tag"])]
    if not there:
        return []
    new = [row.split()[0].decode() for row in ran(*_NEW, given=b"\n".join(there)).splitlines()]
    refs = {kept_name(named[each], each): each for each in new if each in named}
    for problem in bring_refs_back(ran, {}, refs, {}, failed=[]):
        raise WorkTreeFailed(problem)
    return list(refs)


def _named(shadow: Path) -> Iterator[tuple[str, str]]:
    """The objects that a shadow names, each with the name of its ref or file; what was fetched is left out.
    Raises OSError and ValueError."""
    files = FolderStamps(shadow, PASSED_OVER - {"worktrees"}).look()
    for path in files:
        name = path.split("/", 2)[-1] if path.startswith("worktrees/") else path
        if only_names_objects(name) or name in ("HEAD", "logs/refs/stash"):
            content = content_of(shadow / path, most=_LARGEST) or b""
            yield from ((each, name.removeprefix("logs/")) for each in objects_in(name, content))
    for name, value in RefReader(shadow, is_ours=False).read(files).items():
        if not name.startswith("refs/remotes/") and not value.startswith("ref:"):
            yield value, name
