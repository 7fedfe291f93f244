"""The changes of a command as a person sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keen_tui.domain.display import ChangedFile, DiffDisplay
from keen_tui.domain.file_changes import FileChange
from keen_tui.text.diff import diff_display
from keen_tui.tools.access.sensitive import holds_secrets

MOST_SHOWN: Final = 50
"""Files of a command that are shown; of more the rest is counted."""

MOST_ROWS: Final = 600
"""Rows of all diffs of a command that are shown."""


def shown(changes: Sequence[FileChange]) -> tuple[ChangedFile, ...]:
    """The changes as a person sees them; of many files or long diffs only the first have their lines."""
    found: list[ChangedFile] = []
    room = MOST_ROWS
    for change in changes[:MOST_SHOWN]:
        diff, note = _diff(change, room)
        room -= sum(map(len, diff.hunks)) if diff else 0
        found.append(ChangedFile(path=change.name, change=change.kind, diff=diff, note=note))
    return tuple(found)


def _diff(change: FileChange, room: int) -> tuple[DiffDisplay | None, str]:
    """The changed lines of a file, or why they aren't shown."""
    contents = (change.before.content or b"", change.after.content or b"")
    if change.unkept:
        return None, change.unkept
    if holds_secrets(change.name):
        return None, "it may hold keys or passwords"
    if any(b"\0" in content[:8_192] for content in contents):
        return None, "binary"
    if contents[0] == contents[1] and change.kind == "changed":
        return None, "mode"
    if room <= 0:
        return None, "not shown here"
    before, after = (content.decode("utf-8", "replace") for content in contents)
    return diff_display(change.name, before, after, most_rows=room), ""
