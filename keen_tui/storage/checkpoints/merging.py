"""Merges several changes of a file into one."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.storage.checkpoints.change_log import Change, ChangeLogEntry, Undone, Withdrawn


class Merged(Struct, frozen=True):
    """The first and the last of the changes of one file."""

    first: Change
    last: Change

    @property
    def as_one(self) -> Change:
        """From before the first to after the last."""
        return replace(self.first, after=self.last.after, mode_after=self.last.mode_after)


def settled(entries: Iterable[ChangeLogEntry]) -> list[ChangeLogEntry]:
    """The entries without the changes that were withdrawn."""
    left: list[ChangeLogEntry] = []
    for entry in entries:
        if isinstance(entry, Withdrawn):
            places = (at for at in reversed(range(len(left))) if _is_change_of(left[at], entry.path))
            if (place := next(places, None)) is not None:
                del left[place]
        else:
            left.append(entry)
    return left


def made_changes(entries: Iterable[ChangeLogEntry]) -> list[Change]:
    """The changes that weren't withdrawn, oldest first."""
    return [entry for entry in settled(entries) if isinstance(entry, Change)]


def merged(entries: Iterable[ChangeLogEntry], turn: int) -> list[Merged]:
    """One entry for each file that the turn changed (for 0: the session), in the order of their first
    changes.

    All attempts of a turn are one change. A file that was changed and changed back is left out.
    """
    files: dict[str, Merged] = {}
    for change in _edits_since_undone(settled(entries), turn) if turn else made_changes(entries):
        before = files.get(change.path)
        files[change.path] = Merged(before.first if before else change, change)
    return [file for file in files.values() if not file.as_one.changes_nothing]


def is_undone(entries: Iterable[ChangeLogEntry], turn: int) -> bool:
    """Whether the turn was undone and has changed nothing since."""
    undone = False
    for entry in settled(entries):
        if _is_edit_of(entry, turn):
            undone = False
        elif isinstance(entry, Undone) and entry.turn == turn:
            undone = True
    return undone


def hashes(changes: Iterable[Change]) -> set[str]:
    """The contents that these changes need."""
    return {name for change in changes for name in (change.before, change.after) if name}


def _edits_since_undone(entries: Iterable[ChangeLogEntry], turn: int) -> list[Change]:
    """The turn's edits since its last undo; if there are none, the edits that this undo undid."""
    edits: list[Change] = []
    undone = False
    for entry in entries:
        if isinstance(entry, Undone) and entry.turn == turn:
            undone = True
        elif isinstance(entry, Change) and _is_edit_of(entry, turn):
            edits = [] if undone else edits
            undone = False
            edits.append(entry)
    return edits


def _is_edit_of(entry: ChangeLogEntry, turn: int) -> bool:
    return isinstance(entry, Change) and entry.kind == "edit" and entry.turn == turn


def _is_change_of(entry: ChangeLogEntry, path: str) -> bool:
    return isinstance(entry, Change) and entry.path == path
