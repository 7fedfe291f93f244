"""Brings settings back that a command has changed in a shadow: who commits, branches and new remotes.

Every other setting could make git run a program, write elsewhere, or fail in the person's hands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from keen_tui.system.safe_read import content_of
from keen_tui.tools.git.own_git import OwnGit

_ANYWHERE: Final = Path("/")
_LARGEST: Final = 10_000_000

GitValues = Mapping[str, tuple[str, ...]]
"""The values of each setting, by its name in small letters (the part in the middle as written)."""

_SWITCH: Final = r"true|false|yes|no|on|off|0|1"
_URL: Final = r"(?:https?|ssh|git)://[\w@.:~/?&=%+-]+|(?:[\w.-]+@)?[\w][\w.-]+:(?!:)[\w.~/+-]+"
_DATA: Final = {
    re.compile(name): re.compile(value)
    for name, value in {
        r"user\.(?:name|email)": r"[^\n\r\0]*",
        r"user\.useconfigonly": _SWITCH,
        r"branch\..+\.description": r"[^\0]*",
        r"branch\..+\.remote": r"\.|[A-Za-z0-9][\w.-]*",
        r"branch\..+\.merge": r"refs/[^\s~^:?*\[\\]+",
        r"branch\..+\.rebase": f"{_SWITCH}|merges",
        r"remote\.[\w.-]+\.(?:url|pushurl)": _URL,
        r"remote\.[\w.-]+\.(?:fetch|push)": r"[+^]?[\w/*.-]*(?::[\w/*.-]*)?",
        r"remote\.[\w.-]+\.prune": _SWITCH,
        r"remote\.[\w.-]+\.tagopt": r"--(?:no-)?tags",
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


def comes_back(key: str, old: GitValues, new: GitValues) -> bool:
    """Whether a changed setting may be written into the repository of the person. A branch may follow only a
    remote that has a URL: git takes any other name for a folder."""
    values = new.get(key, ())
    allowed = next((value for name, value in _DATA.items() if name.fullmatch(key)), None)
    if allowed is None or not all(map(allowed.fullmatch, values)):
        return False
    name = key.rpartition(".")[2]
    if name in ("url", "pushurl"):
        remote = key[len("remote.") : -len(name) - 1]
        follows = any(remote in each for other, each in new.items() if other.endswith(".remote"))
        return not follows if not values else key not in old
    if name == "remote":
        return all(each == "." or f"remote.{each}.url" in new for each in values)
    return True


def bring_settings_back(git: OwnGit, file: Path, before: bytes, ours: bytes) -> Iterator[str]:
    """Change the settings in `file` as a command has changed `before` to `ours`. Yields the names of those
    that stay as they are. Raises WorkTreeFailed."""
    there = content_of(file, most=_LARGEST) or b""
    old, new, now = (read_settings(git, content) for content in (before, ours, there))
    for key in {**old, **new}:
        values = new.get(key, ())
        if values == old.get(key, ()):
            continue
        if not comes_back(key, old, new) or now.get(key) != old.get(key):
            yield key
            continue
        if key in now:
            git.output(_ANYWHERE, "config", "--file", str(file), "--unset-all", key)
        for value in values:
            git.output(_ANYWHERE, "config", "--file", str(file), "--add", key, value)
