"""Finds what commands write to the sandbox's own home although it is meant to last."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.scratch import scratch_in

_PLACES: Final = (".ssh", ".local/bin", ".local/lib", "bin", ".config/git", ".config/pip", ".config/fish")
"""Folders in a home whose entries count, too."""
_NOT_MEANT: Final = re.compile(r".*(?:hist|history|hsts|viminfo|\.lock|\.tmp|\.log|-journal)")

HomeFiles = Mapping[str, tuple[int, ...]]
"""The files, by their names from the home, each with a value that changes with it."""


class CommandHome:
    """The home of the commands in one sandbox. All methods block."""

    def __init__(self, policy: Policy) -> None:
        self._scratch = scratch_in(policy.scratch)
        self._told: set[str] = set()

    def look(self) -> HomeFiles:
        """Returns the files that are there now."""
        home = self._scratch.home
        return dict(_files_in(home)) if home else {}

    def written_since(self, before: HomeFiles) -> tuple[str, ...]:
        """The names of the files that were written since then, each only the first time."""
        now = self.look()
        new = tuple(sorted(name for name in now if now[name] != before.get(name) and name not in self._told))
        self._told.update(new)
        return new


def _files_in(home: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from (each for each in _entries(home, "") if each[0].startswith("."))
    for place in _PLACES:
        yield from _entries(home, f"{place}/", folders=True)


def _entries(home: Path, below: str, *, folders: bool = False) -> Iterator[tuple[str, tuple[int, ...]]]:
    with suppress(OSError), os.scandir(home / below) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if (folders or entry.is_file(follow_symlinks=False)) and not _NOT_MEANT.fullmatch(entry.name):
                yield f"{below}{entry.name}", (status.st_ino, status.st_size, status.st_mtime_ns)
