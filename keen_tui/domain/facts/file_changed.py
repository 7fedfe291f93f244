"""Changed files. Many that commands changed are folded by folder (turn.md rule 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from keen_tui.domain.facts.remembered import FactRow, Remembered, quoted

MOST_NAMES: Final = 20
"""More files of commands than this are folded, until no more names than this are left."""


class FileChanged(Remembered, frozen=True, kw_only=True):
    """A tool changed this file. `path` follows turn.md rule 13: relative, with forward slashes. `by_command`:
    a command did, and Keen found out by looking at the work tree."""

    FIELD = "files_changed"
    SIGN = "±"
    LABEL = "changed "
    MAY_CHANGE_FILES = True

    path: str
    by_command: bool = False

    @property
    def row(self) -> FactRow:
        return FactRow(self.path, is_path=True)

    @classmethod
    def merged(cls, facts: Iterable[FileChanged]) -> tuple[FileChanged, ...]:
        only: dict[str, bool] = {}
        for fact in facts:
            only[fact.path] = fact.by_command and only.get(fact.path, True)
        return tuple(cls(path=path, by_command=by_command) for path, by_command in only.items())

    @classmethod
    def read_from(cls, memory: Any) -> tuple[FileChanged, ...]:
        by_command = set(memory.by_command)
        return tuple(cls(path=path, by_command=path in by_command) for path in memory.files_changed)

    @classmethod
    def fields(cls, facts: tuple[FileChanged, ...]) -> Mapping[str, Any]:
        by_command = tuple(fact.path for fact in facts if fact.by_command)
        return {"files_changed": tuple(fact.path for fact in facts), "by_command": by_command}

    @classmethod
    def lines(cls, facts: Sequence[FileChanged]) -> Iterator[str]:
        yield "Files changed: " + ", ".join(
            quoted(path) if files == 1 else f"{quoted(f'{path}/')} ({files} files)"
            for path, files, _ in _folded(facts)
        )

    @classmethod
    def rows(cls, facts: Sequence[FileChanged]) -> Iterator[FactRow]:
        for path, files, by_command in _folded(facts):
            name = path if files == 1 else f"{path}/ ({files:,} files)"
            yield FactRow(name, "by command" if by_command else "", is_path=True)


def _folded(facts: Sequence[FileChanged]) -> Iterable[tuple[str, int, bool]]:
    """Returns names in the order of the files, each with its number of files and whether commands changed
    them. Files that tools changed are always named, and up to MOST_NAMES that commands changed.

    If there are more, each is named by its folder, cut to the greatest depth at which at most MOST_NAMES
    names are left. A folder with one file is named by the file, and the workspace itself is ".".
    """
    by_command = [fact.path for fact in facts if fact.by_command]
    names = _names(by_command) if len(by_command) > MOST_NAMES else {}
    sizes = Counter(names.values())
    found: dict[str, tuple[str, int, bool]] = {}
    for fact in facts:
        name = names.get(fact.path, fact.path)
        if sizes[name] > 1:
            found[name] = (name, sizes[name], True)
        else:
            found[fact.path] = (fact.path, 1, fact.by_command)
    return found.values()


def _names(paths: Sequence[str]) -> dict[str, str]:
    """Returns the folder that each path is folded to, or the path itself."""
    for depth in range(max(path.count("/") for path in paths), 0, -1):
        names = {path: "/".join(path.split("/")[:-1][:depth]) or path for path in paths}
        if len(set(names.values())) <= MOST_NAMES:
            return names
    return dict.fromkeys(paths, ".")
