"""Repositories inside the workspace, and the programs that git would run when somebody uses git there.

Git treats a folder with `HEAD`, `objects` and `refs` as a repository, wherever it finds one on its way up,
and obeys its settings and hooks.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from keen_tui.system.safe_read import content_of
from keen_tui.system.trees import walk
from keen_tui.tools.shell.harmless_settings import is_harmless

_LARGEST: Final = 1_000_000
"""Bytes of the largest settings file that is read."""
_LONGEST_PATH: Final = 4_096
_MOST_MODULES: Final = 2_000
"""The most folders below `modules` that are searched for the repositories of submodules."""

_SECTION: Final = re.compile(r'\[([\w-]+)(?:[ \t]+"(?:[^"\\]|\\.)*")?\]')
_SETTING: Final = re.compile(r"([a-z][a-z0-9-]*)[ \t]*(?:=(.*))?", re.IGNORECASE)


class Program(NamedTuple):
    """Something that git would run, or might be made to run: the file that names it, and the version of that
    file.

    Writing or replacing a file changes its version. That of a `.git` file is what it says.
    """

    name: str
    version: tuple[int, ...]


def repository_at(entry: Path) -> Path:
    """The repository of a `.git` or `HEAD` entry."""
    return entry if entry.name.casefold() == ".git" else entry.parent


def programs_of(repository: Path) -> frozenset[Program]:
    """The programs that git would run because of a repository, if there is one. A `.git` file leads to a
    repository, which may be anywhere: it counts as a program of its own. Blocks."""
    if leads_to_one(repository):
        return frozenset((Program(repository.name, _said(repository)),))
    if not _is_repository(repository):
        return frozenset()
    return frozenset((*_programs(repository), *_of_modules(repository / "modules")))


def leads_to_one(entry: Path) -> bool:
    """Whether the entry only says where a repository is."""
    return entry.is_symlink() or not entry.is_dir()


def _is_repository(folder: Path) -> bool:
    """Whether git sees a repository, regardless of the content of HEAD."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    whole = (folder / "objects").exists() and (folder / "refs").exists()
    return whole or os.path.lexists(folder / "commondir")


def _programs(repository: Path) -> Iterator[Program]:
    for name in ("config", "config.worktree"):
        version = _version(repository / name)
        if version:
            yield from (Program(found, version) for found in _named_in(repository / name))
    if version := _version(repository / "commondir"):
        yield Program("commondir", version)
    yield from _hooks(repository / "hooks")


def _of_modules(modules: Path) -> Iterator[Program]:
    """The programs of submodules, whose repositories are inside the main one."""
    if not modules.is_dir():
        return
    for number, (folder, folders, _) in enumerate(walk(modules)):
        if number == _MOST_MODULES:
            yield Program("very many submodules", ())
            return
        if _is_repository(Path(folder)):
            yield from _programs(Path(folder))
            folders[:] = [name for name in folders if name == "modules"]


def _hooks(folder: Path) -> Iterator[Program]:
    version = _version(folder)
    if not version:
        return
    try:
        entries = [] if not stat.S_ISDIR(version[0]) else list(folder.iterdir())
    except OSError:
        entries = []
    if not entries and not stat.S_ISDIR(version[0]):
        yield Program("hooks", version)
    for hook in entries:
        found = _version(hook)
        if found and not hook.name.endswith(".sample") and not _cant_run(found[0]):
            yield Program(f"hooks/{hook.name}", found)


def _cant_run(mode: int) -> bool:
    return stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and not mode & 0o111)


def _said(pointer: Path) -> tuple[int, ...]:
    """Returns the bytes of the path and of the content of a `.git` file; () if it isn't a file."""
    with suppress(OSError):
        return (*os.fsencode(pointer), *(content_of(pointer, most=_LONGEST_PATH) or b""))
    return ()


def _version(path: Path) -> tuple[int, ...]:
    """A value that changes with the file; () if it is missing."""
    try:
        found = path.lstat()
    except OSError:
        return ()
    return (found.st_mode, found.st_dev, found.st_ino, found.st_ctime_ns)


def _named_in(config: Path) -> Iterator[str]:
    """The settings in a file that may name programs or other files."""
    try:
        content = content_of(config, most=_LARGEST) or b""
    except OSError:
        yield config.name  # a link, or unreadable
        return
    section = ""
    for row in content.decode("latin-1").split("\n"):
        line = row.strip(" \t\r")
        if not line or line[0] in "#;":
            continue
        if found := _SECTION.fullmatch(line):
            section = found[1].lower()
            continue
        setting = _SETTING.fullmatch(line)
        name = setting[1] if setting else ""
        if not setting or line.endswith("\\") or not is_harmless(section, name, setting[2] or ""):
            yield f"{section}.{name.lower()}" if name else f"a line in {config.name}"
