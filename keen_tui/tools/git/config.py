"""Git's settings, as git itself lists them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

LIST: Final = ("config", "--list", "--show-origin", "--show-scope", "--includes", "-z")

_OF_FILTER: Final = ("clean", "smudge", "process")
"""Settings of a filter that name programs."""

_OF_LFS: Final = ("lfs.customtransfer.", "lfs.extension.")
"""Settings that name programs for the filter of Git LFS."""


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


class GitConfig(Struct, frozen=True):
    """All settings of a repository. Later ones beat earlier ones."""

    entries: tuple[GitSetting, ...] = ()

    @property
    def filter_of_repository(self) -> str:
        """The key of a setting with which the repository itself names a program for content, or may do so in
        another work tree; "" for none. One that the user's own settings have, too, is the user's."""
        own = {(entry.key, entry.value) for entry in self.entries if not entry.is_of_repository}
        named = (
            entry.key
            for entry in self.entries
            if entry.is_of_repository and entry.value and (entry.key, entry.value) not in own
            if (entry.section == "filter" and entry.variable in _OF_FILTER)
            or entry.section == "includeif"
            or entry.key.startswith(_OF_LFS)
        )
        return next(named, "")


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
