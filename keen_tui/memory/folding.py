"""Many changed files as a few names: those that commands changed are folded by folder (turn.md rule 12)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec import Struct

from keen_tui.domain.messages import TurnMemory

MOST_NAMES: Final = 20
"""More files of commands than this are folded, until no more names than this are left."""


class FoldedFiles(Struct, frozen=True):
    """A changed file, or a folder that stands for several `files` below it. The workspace itself is "."."""

    path: str
    files: int
    by_command: bool

    @property
    def name(self) -> str:
        """`src/money.py`, or `src/gen/ (42 files)`."""
        return self.path if self.files == 1 else f"{self.path}/ ({self.files:,} files)"


def folded_files(memory: TurnMemory) -> tuple[FoldedFiles, ...]:
    """The changed files in their order. Files that tools changed are always named, and up to MOST_NAMES that
    commands changed.

    If there are more, each is named by its folder, cut to the greatest depth at which at most MOST_NAMES
    names are left. A folder with one file is named by the file.
    """
    by_command = memory.by_command
    if len(by_command) <= MOST_NAMES:
        return tuple(FoldedFiles(path, 1, path in by_command) for path in memory.files_changed)
    names = _names(by_command)
    sizes = Counter(names.values())
    found: dict[str, FoldedFiles] = {}
    for path in memory.files_changed:
        name = names.get(path, path)
        if sizes[name] > 1:
            found[name] = FoldedFiles(name, sizes[name], True)
        else:
            found[path] = FoldedFiles(path, 1, path in names)
    return tuple(found.values())


def _names(paths: tuple[str, ...]) -> dict[str, str]:
    """Returns the folder that each path is folded to, or the path itself."""
    for depth in range(max(path.count("/") for path in paths), 0, -1):
        names = {path: _folder(path, depth) or path for path in paths}
        if len(set(names.values())) <= MOST_NAMES:
            return names
    return dict.fromkeys(paths, ".")


def _folder(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:-1][:depth])
