"""Repositories inside the workspace: which programs git would run because somebody uses git there.

Git takes a folder with `HEAD`, `objects` and `refs` for a repository, wherever it finds one on its way up,
and then obeys its settings and hooks.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from keen_tui.system.safe_read import content_of
from keen_tui.system.trees import walk
from keen_tui.tools.git.harmless_settings import is_harmless

_LARGEST: Final = 1_000_000
"""Bytes of a file of settings that is read."""
_MOST_MODULES: Final = 2_000
"""Folders below `modules` that are looked through for the repositories of submodules."""

_SECTION: Final = re.compile(r'\[([\w-]+)(?:[ \t]+"(?:[^"\\]|\\.)*")?\]')
_SETTING: Final = re.compile(r"([a-z][a-z0-9-]*)[ \t]*(?:=(.*))?", re.IGNORECASE)


class Program(NamedTuple):
    """Something that git would run, or may be led to run: what names it, and which version of what names it.

    A file that is written has another version, and so has one that takes its place.
    """

    name: str
    version: tuple[int, ...]


def repository_at(entry: Path) -> Path:
    """The repository that a `.git` or a `HEAD` makes."""
    return entry if entry.name.casefold() == ".git" else entry.parent


def programs_of(repository: Path) -> frozenset[Program]:
    """What git would run because of a repository; nothing where there is none. Blocks."""
    if not _is_repository(repository):
        return frozenset()
    return frozenset((*_programs(repository), *_of_modules(repository / "modules")))


def _is_repository(folder: Path) -> bool:
    """As git decides, but for what is in HEAD."""
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
    """Of the submodules, whose repositories lie in that of the whole."""
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


def _version(path: Path) -> tuple[int, ...]:
    """What changes whenever the file does; () where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return ()
    return (found.st_mode, found.st_dev, found.st_ino, found.st_ctime_ns)


def _named_in(config: Path) -> Iterator[str]:
    """The settings in a file that may name a program or another file."""
    try:
        content = content_of(config, most=_LARGEST) or b""
    except OSError:
        yield config.name  # a link, or nothing that can be read now
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
