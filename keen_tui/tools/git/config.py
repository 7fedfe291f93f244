"""Reads git's settings: the programs and files that they name decide whether git may run separately.

Git itself reads them, in a sandbox where it can change nothing. If the repository's settings name a program
for content (a filter, a driver), that program would run where `.git` can be written, so git doesn't run
separately then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.system.paths import text_of

LIST: Final = ("config", "--list", "--show-origin", "--show-scope", "--includes", "-z")

_PROGRAMS: Final[Mapping[str, tuple[str, ...] | None]] = {
    "filter": ("clean", "smudge", "process"),
    "merge": ("driver",),
    "diff": ("textconv", "command"),
    "gpg": ("program", "defaultkeycommand"),
    "alias": None,
}
"""The settings that name a program, by section; None: all of them."""

_FAILING: Final[Mapping[str, tuple[str, ...]]] = {
    "filter": ("clean=false", "smudge=false", "process=", "required=true"),
    "merge": ("driver=exit 255",),
    "diff": ("textconv=false",),
}
"""Settings that make git fail instead of running the program, by section."""

_OF_LFS: Final = ("lfs.customtransfer.", "lfs.extension.")
"""Settings that name programs for the filter of Git LFS."""

_PATH: Final = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_MOST_FILES: Final = 50

_FILES: Final = ("core.excludesfile", "core.attributesfile")
_TRUE: Final = ("", "true", "yes", "on", "1")


class GitSetting(Struct, frozen=True):
    """One setting: its scope, its name in lower case (a subsection unchanged), and its value."""

    scope: str
    origin: str
    key: str
    value: str

    @property
    def section(self) -> str:
        return self.key.partition(".")[0]

    @property
    def variable(self) -> str:
        return self.key.rpartition(".")[2]

    @property
    def is_of_repository(self) -> bool:
        return self.scope in ("local", "worktree", "command")

    @property
    def names_a_program(self) -> bool:
        """Whether git would run the value for content, a signature or a command of that name."""
        if self.section not in _PROGRAMS:
            return False
        variables = _PROGRAMS[self.section]
        return variables is None or self.variable in variables


class GitConfig(Struct, frozen=True):
    """All settings of a repository. Later ones beat earlier ones."""

    entries: tuple[GitSetting, ...] = ()

    def value(self, key: str) -> str:
        return next((entry.value for entry in reversed(self.entries) if entry.key == key), "")

    def is_on(self, key: str) -> bool:
        return any(entry.key == key for entry in self.entries) and self.value(key).lower() in _TRUE

    def files(self, home: Path) -> Iterator[Path]:
        """The other files that git reads because of the settings: included settings, ignore patterns."""
        for entry in self.entries:
            if not entry.is_of_repository and (_includes(entry) or entry.key in _FILES):
                yield _resolved(entry, home)

    def objection(self, workspace: Path, home: Path) -> str:
        """Why git may not run separately with these settings, as the end of a sentence; "" if it may."""
        real = Path(os.path.realpath(workspace))
        for entry in self.entries:
            file = Path(entry.origin.removeprefix("file:"))
            if not entry.is_of_repository and _is_in(file, real):
                return f"your git settings come from a file of the workspace ({file})"
            if _includes(entry) and (entry.is_of_repository or _is_in(_resolved(entry, home), real)):
                return f"git's settings include another file ({entry.value})"
            if entry.names_a_program and (entry.is_of_repository or "=" in entry.key):
                return f"{entry.key} in git's settings names a program"
        if self.value("core.worktree") or self.is_on("extensions.worktreeconfig"):
            return "this repository has settings for several work trees"
        return ""

    @property
    def filter_of_repository(self) -> str:
        """The key of a setting with which the repository itself names a program for content, or may do so in
        another work tree; "" for none. One that the user's own settings have, too, is the user's."""
        own = {(entry.key, entry.value) for entry in self.entries if not entry.is_of_repository}
        named = (
            entry.key
            for entry in self.entries
            if entry.is_of_repository and entry.value and (entry.key, entry.value) not in own
            if (entry.section == "filter" and entry.names_a_program)
            or entry.section == "includeif"
            or entry.key.startswith(_OF_LFS)
        )
        return next(named, "")

    def guards(self) -> Iterator[str]:
        """Flags that make git fail if the user's own settings name a program for content, instead of running
        or skipping it."""
        names = {entry.key.rpartition(".")[0] for entry in self.entries if entry.names_a_program}
        for name in sorted(names):
            for setting in _FAILING.get(name.partition(".")[0], ()):
                yield from ("-c", f"{name}.{setting}")


def parse(listed: bytes) -> GitConfig:
    """The settings, from the output of `git config` with `LIST`. Raises ValueError if it can't be parsed."""
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    if fields.pop() or len(fields) % 3:
        raise ValueError("git's settings can't be read")
    entries = []
    for scope, origin, setting in zip(fields[0::3], fields[1::3], fields[2::3], strict=True):
        key, _, value = setting.partition("\n")
        entries.append(GitSetting(scope, origin, key, value))
    return GitConfig(tuple(entries))


def global_files(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The files of the user's own git settings, the lists beside them, and the files that they seem to
    include: without those git may not even start."""
    folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "git")
    found = dict.fromkeys(
        (home / ".gitconfig", *(folder / name for name in ("config", "ignore", "attributes")))
    )
    waiting = list(found)[:2]
    while waiting and len(found) < _MOST_FILES:
        file = waiting.pop()
        more = [path for path in _paths_in(file, home) if path not in found]
        found |= dict.fromkeys(more)
        waiting += more
    return tuple(found)


def _paths_in(file: Path, home: Path) -> list[Path]:
    try:
        text = text_of(file)
    except (OSError, ValueError):
        return []
    named = (match[1].strip().strip('"') for match in _PATH.finditer(text))
    return [home / name[2:] if name.startswith("~/") else file.parent / name for name in named]


def _includes(entry: GitSetting) -> bool:
    return entry.key == "include.path" or (entry.section == "includeif" and entry.variable == "path")


def _resolved(entry: GitSetting, home: Path) -> Path:
    if entry.value.startswith("~/"):
        return home / entry.value[2:]
    return Path(entry.origin.removeprefix("file:")).parent / entry.value


def _is_in(file: Path, folder: Path) -> bool:
    """Whether the file is in the folder, by its name, by its links, or by the links of its folders."""
    forms = (Path(os.path.normpath(file)), Path(os.path.realpath(file)))
    return any(form.is_relative_to(folder) for form in forms)
