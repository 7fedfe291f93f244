"""The changed files as they are shown: each with its diff, or why there is none."""

from __future__ import annotations

from msgspec import Struct

from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.reports import Changes, FileVersions
from keen_tui.text.diff import diff_display
from keen_tui.text.sanitize import clean
from keen_tui.text.units import size

MOST_ROWS = 3_000
"""The most rows of a file's diff that are shown; the rest is counted."""

_BOM = b"\xef\xbb\xbf"


class ShownFile(Struct, frozen=True, kw_only=True):
    """A changed file. `diff` is None if there is nothing to draw; `instead` then says why. `note` is a word
    about the file: "new", "binary"."""

    path: str
    diff: DiffDisplay | None
    note: str = ""
    instead: str = ""
    changed_since: bool = False
    unkept: bool = False

    @property
    def added(self) -> int:
        return self.diff.added if self.diff else 0

    @property
    def removed(self) -> int:
        return self.diff.removed if self.diff else 0


def shown_files(changes: Changes) -> tuple[ShownFile, ...]:
    """The files in order. Comparing large files takes a while: call it in a thread."""
    return tuple(_shown(file) for file in changes.files)


def not_covered(unwatched: int) -> str:
    """Returns a sentence about commands that weren't tracked, so that their changes can't be undone; "" for
    none."""
    if not unwatched:
        return ""
    if unwatched == 1:
        return "1 command wasn't tracked, so its changes can't be undone"
    return f"{unwatched} commands weren't tracked, so their changes can't be undone"


def _shown(file: FileVersions) -> ShownFile:
    path = clean(file.path)
    if file.unkept:
        return ShownFile(
            path=path,
            diff=None,
            note="not kept",
            instead=f"Not saved: {clean(file.unkept)}.",
            changed_since=file.changed_since,
            unkept=True,
        )
    before, after = _text(file.before), _text(file.after)
    if before is None or after is None:
        words = f"A binary file: {_size(file.before)} before, {_size(file.after)} after."
        return ShownFile(path=path, diff=None, note="binary", instead=words, changed_since=file.changed_since)
    diff = diff_display(path, before, after, most_rows=MOST_ROWS)
    note = "new" if file.before is None else "removed" if file.after is None else ""
    return ShownFile(
        path=path,
        diff=diff if diff.hunks else None,
        note=note,
        instead="" if diff.hunks else "No lines differ.",
        changed_since=file.changed_since,
    )


def _text(content: bytes | None) -> str | None:
    """The content as text ("" if there is no file), None if it isn't text."""
    if content is None:
        return ""
    try:
        return None if b"\0" in content else content.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        return None


def _size(content: bytes | None) -> str:
    return "none" if content is None else size(len(content))
