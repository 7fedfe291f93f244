"""Finds the files that define sub-agents, and reads each of them once: what the user trusts is what is
used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.settings.added.brought import Brought, first_rows, in_question
from keen_tui.settings.added.definition_files import (
    MOST_FILES,
    UnusableFile,
    content_within,
    markdown_files,
)
from keen_tui.system.paths import AGENT_PLACES, home_relative
from keen_tui.text.sanitize import clean
from keen_tui.text.units import size

MOST_BYTES: Final = 64_000
"""Bytes of a file; its text is sent with every request of the sub-agent."""
_DEEPEST: Final = 3
"""How deep folders are searched."""


class AgentFile(Struct, frozen=True, kw_only=True):
    """A file that defines a sub-agent. `stem` is its name without the ending, `place` its folder for people,
    `where` the file itself. `problem` says why it can't be used, "" for nothing."""

    stem: str
    place: str
    where: str
    content: bytes = b""
    problem: str = ""


def own_agent_files(places: Sequence[Path]) -> tuple[AgentFile, ...]:
    """The user's own, from the folders of `own_agent_places`, the first place first. Links are followed: the
    user made them. Blocks; never raises."""
    seen: set[Path] = set()
    return tuple(
        each for folder in places for each in _files(folder, clean(home_relative(folder)), None, seen)
    )


def project_agent_files(project: Path) -> tuple[AgentFile, ...]:
    """Those of a project. A link that leaves the project isn't followed. In the home folder there are none:
    what is there is the user's own. Blocks; never raises."""
    root = Path(os.path.realpath(project))
    if root == Path(os.path.realpath(Path.home())):
        return ()
    seen: set[Path] = set()
    return tuple(each for name in AGENT_PLACES for each in _files(root / name, name, root, seen))


def agents_brought(files: Sequence[AgentFile]) -> Brought:
    """Returns the sub-agents of a project, for the question whether they may be used."""
    usable = [file for file in files if not file.problem]
    places = dict.fromkeys(file.place for file in usable)
    return Brought(
        name="sub-agents",
        title=f"sub-agents of its own, in {' and '.join(places)}",
        rows=first_rows(
            [
                f"  {in_question(file.stem)}   {size(len(file.content))}, in {in_question(file.where)}"
                for file in usable
            ]
        ),
        content=tuple(
            f"{file.where}\0{sha256(file.content).hexdigest()}".encode("utf-8", "replace") for file in usable
        ),
    )


def _files(folder: Path, shown: str, root: Path | None, seen: set[Path]) -> Iterator[AgentFile]:
    """The files below a folder, each once: `.claude/agents` is often a link to `.agents/agents`. `root` is
    the project that no link may leave."""
    real = Path(os.path.realpath(folder))
    if root and not real.is_relative_to(root):
        return
    paths = list(markdown_files(real, _DEEPEST, follows=root is None))
    for number, path in enumerate(paths):
        where = f"{shown}/{clean(path.relative_to(real).as_posix())}"
        if number == MOST_FILES:
            why = f"only the first {MOST_FILES} of {len(paths):,} files in {shown} are read; this is the next"
            yield AgentFile(stem=path.stem, place=shown, where=where, problem=why)
            return
        target = Path(os.path.realpath(path))
        if target not in seen:
            seen.add(target)
            yield _read(path, target, shown, where, root)


def _read(path: Path, target: Path, place: str, where: str, root: Path | None) -> AgentFile:
    content, problem = b"", ""
    if root and not target.is_relative_to(root):
        problem = "it is a link to a place outside the project"
    else:
        try:
            content = content_within(target, MOST_BYTES)
        except UnusableFile as why:
            problem = f"it {why}"
    return AgentFile(stem=path.stem, place=place, where=where, content=content, problem=problem)
