"""Brings settings back that a command has changed in a shadow, if they can't make git run anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from keen_tui.system.safe_read import content_of
from keen_tui.tools.git.harmless_settings import is_harmless
from keen_tui.tools.git.own_git import OwnGit

_ANYWHERE: Final = Path("/")
_LARGEST: Final = 10_000_000

GitValues = Mapping[str, tuple[str, ...]]
"""The values of each setting, by its name in small letters (the part in the middle as written)."""

_LEAD_ELSEWHERE: Final = re.compile(
    r"core\.(?:worktree|bare|repositoryformatversion|sharedrepository|protecthfs|protectntfs)"
    r"|extensions\..*|receive\..*|maintenance\..*|remote\..*\.(?:promisor|partialclonefilter|mirror)|lfs\..*"
)
"""Harmless where a command can't write outside; in the person's own git they could change where it does."""
_URL: Final = re.compile(r"(?:https?|ssh|git)://[\w@.:~/?&=%+-]+|(?:[\w.-]+@)?[\w][\w.-]+:(?!:)[\w.~/+-]+")
_NAME: Final = re.compile(r"\.|[A-Za-z0-9][\w.-]*")


def read_settings(git: OwnGit, content: bytes) -> GitValues:
    """The settings in a file. Raises WorkTreeFailed if it isn't one."""
    listed = git.output(_ANYWHERE, "config", "--file", "-", "--list", "-z", given=content)
    found: dict[str, tuple[str, ...]] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found[key] = (*found.get(key, ()), value)
    return found


def comes_back(key: str, values: tuple[str, ...]) -> bool:
    """Whether a setting may be written into the repository of the person."""
    section, _, rest = key.partition(".")
    name = rest.rpartition(".")[2]
    if not values and section == "core":
        return False
    if _LEAD_ELSEWHERE.fullmatch(key) or not all(
        is_harmless(section, name, each) for each in values or ("",)
    ):
        return False
    if name in ("url", "pushurl"):
        return all(map(_URL.fullmatch, values))
    return section != "branch" or name != "remote" or all(map(_NAME.fullmatch, values))


def bring_settings_back(git: OwnGit, file: Path, before: bytes, ours: bytes) -> Iterator[str]:
    """Change the settings in `file` as a command has changed `before` to `ours`. Yields the names of those
    that stay as they are. Raises WorkTreeFailed."""
    old, new, now = (
        read_settings(git, content) for content in (before, ours, content_of(file, most=_LARGEST) or b"")
    )
    for key in {**old, **new}:
        values = new.get(key, ())
        if values == old.get(key, ()):
            continue
        if not comes_back(key, values) or now.get(key) != old.get(key):
            yield key
            continue
        if key in now:
            git.output(_ANYWHERE, "config", "--file", str(file), "--unset-all", key)
        for value in values:
            git.output(_ANYWHERE, "config", "--file", str(file), "--add", key, value)
