"""Brings settings back that a command has changed in a shadow: who commits, branches and new remotes.

Every other setting could make git run a program, write elsewhere, or fail in the person's hands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from keen_tui.system.safe_read import content_of
from keen_tui.tools.git.own_git import OwnGit

_ANYWHERE: Final = Path("/")
_LARGEST: Final = 10_000_000
_MOST: Final = 100
"""The most values that are written at once, each by a git of its own."""

GitValues = Mapping[str, tuple[str, ...]]
"""The values of each setting, by its name in small letters (the part in the middle as written)."""

_SWITCH: Final = r"true|false|yes|no|on|off|0|1"
_URL: Final = r"(?:https?|ssh|git)://\w[\w@.:~/?&=%+-]*|(?:\w[\w.-]*@)?\w[\w.-]+:(?!:|//)[\w.~/+-]+"
_DATA: Final = {
    re.compile(name): re.compile(value)
    for name, value in {
        r"user\.(?:name|email)": r"[^\n\r\0]*",
        r"user\.useconfigonly": _SWITCH,
        r"branch\..+\.description": r"[^\0]*",
        r"branch\..+\.remote": r"\.|[A-Za-z0-9][\w.-]*",
        r"branch\..+\.merge": r"refs/[^\s~^:?*\[\\]+",
        r"branch\..+\.rebase": f"{_SWITCH}|merges",
        r"remote\.\w[\w.-]*\.(?:url|pushurl)": _URL,
        r"remote\.\w[\w.-]*\.fetch": r"\+?refs/heads/[\w/*.-]+:refs/remotes/[\w/*.-]+",
        r"remote\.\w[\w.-]*\.prune": _SWITCH,
        r"remote\.\w[\w.-]*\.tagopt": r"--(?:no-)?tags",
    }.items()
}
"""The settings that are data, with what they may say."""


def read_settings(git: OwnGit, content: bytes) -> GitValues:
    """The settings in a file. Raises WorkTreeFailed if it isn't one."""
    listed = git.output(_ANYWHERE, "config", "--no-includes", "--file", "-", "--list", "-z", given=content)
    found: dict[str, tuple[str, ...]] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found[key] = (*found.get(key, ()), value)
    return found


class ChangedSettings:
    """The settings of one repository.

    Args:
        file: holds them.
        first: what it held before any command ran. A remote that it names keeps its URLs, and a branch that
            follows one of its remotes follows no new one: the person pushes there.
    """

    def __init__(self, git: OwnGit, file: Path, first: bytes) -> None:
        self._git = git
        self._file = file
        self._first = first

    def bring_back(self, before: bytes, ours: bytes) -> list[str]:
        """Change them as a command has changed `before` to `ours`. Returns the names of those that stay as
        they are. Raises OSError and WorkTreeFailed."""
        there = content_of(self._file, most=_LARGEST) or b""
        first, old, new, now = (
            read_settings(self._git, content) for content in (self._first, before, ours, there)
        )
        changed = [key for key in {**old, **new} if new.get(key, ()) != old.get(key, ())]
        left, staying = _MOST, []
        for key in sorted(changed, key=lambda each: not each.endswith(".url")):  # a branch needs its remote's
            values = new.get(key, ())
            left -= len(values) + 1
            if left < 0 or now.get(key) != old.get(key) or not _comes_back(key, values, first, now):
                staying.append(key)
                continue
            if key in now:
                self._write("--unset-all", key)
            for value in values:
                self._write("--add", key, value)
            now = {**now, key: values}
        return staying

    def _write(self, *words: str) -> None:
        self._git.output(_ANYWHERE, "config", "--file", str(self._file), *words)


def _comes_back(key: str, values: Sequence[str], first: GitValues, now: GitValues) -> bool:
    """Whether a setting may get these values, none of which removes it; `now` are those of the repository."""
    allowed = next((value for name, value in _DATA.items() if name.fullmatch(key)), None)
    if allowed is None or not all(map(allowed.fullmatch, values)):
        return False
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    if name in ("url", "pushurl"):
        if not values:
            return not any(middle in each for other, each in now.items() if other.endswith(".remote"))
        return values == first.get(key, ()) if f"remote.{middle}.url" in first else key not in now
    if name == "fetch":
        return all(value.partition(":")[2].startswith(f"refs/remotes/{middle}/") for value in values)
    if section == "branch" and name == "remote":
        known = first if key in first else now
        return all(each == "." or f"remote.{each}.url" in known for each in values)
    return True
