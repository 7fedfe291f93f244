"""A line of text with a cursor, edited by keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from rich.cells import cell_len

from keen_tui.frontends.tui.terminal.killed_text import KilledText

_LAST_WORD: Final = re.compile(r"\S*\s*\Z")


class TypedLine:
    """Text and the position of the cursor in it, in characters."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._killed = KilledText()
        self._edits: Mapping[str, Callable[[], None]] = {
            "backspace": lambda: self._delete(self.cursor - 1, self.cursor),
            "delete": lambda: self._delete(self.cursor, self.cursor + 1),
            "ctrl+w": lambda: self._kill(self._word_start(), self.cursor),
            "alt+backspace": lambda: self._kill(self._word_start(), self.cursor),
            "ctrl+u": lambda: self._kill(0, self.cursor),
            "ctrl+k": lambda: self._kill(self.cursor, len(self.text)),
            "ctrl+y": lambda: self.insert(self._killed.text),
            "left": lambda: self._move(self.cursor - 1),
            "right": lambda: self._move(self.cursor + 1),
            "home": lambda: self._move(0),
            "ctrl+a": lambda: self._move(0),
            "end": lambda: self._move(len(self.text)),
            "ctrl+e": lambda: self._move(len(self.text)),
        }

    def insert(self, text: str) -> None:
        """Write at the cursor."""
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def edit(self, key: str) -> bool:
        """Apply an editing key; False if it does nothing."""
        is_idle = not (self._killed.text if key == "ctrl+y" else self.text)
        if is_idle or key not in self._edits:
            return False
        self._edits[key]()
        return True

    def take(self) -> str:
        """Empty the line. Returns its text."""
        text, self.text, self.cursor = self.text, "", 0
        return text

    def _word_start(self) -> int:
        found = _LAST_WORD.search(self.text[: self.cursor])
        return found.start() if found else 0

    def _delete(self, start: int, end: int) -> None:
        start = max(start, 0)
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start

    def _kill(self, start: int, end: int) -> None:
        """Delete what `ctrl+y` can bring back."""
        killed, was, before = self.text[start:end], (self.text, self.cursor), start < self.cursor
        self._delete(start, end)
        self._killed.add(killed, was=was, left=(self.text, self.cursor), before=before)

    def _move(self, place: int) -> None:
        self.cursor = min(max(place, 0), len(self.text))


def in_rows(text: str, cursor: int, width: int) -> tuple[list[tuple[str, int | None]], int]:
    """The text in rows of at most `width` cells, each with the position of the cursor in it, and the number
    of the cursor's row. Every character is shown; a line break begins a new row."""
    rows: list[tuple[str, int | None]] = []
    row, cells, cursor_at, cursor_row = "", 0, None, 0
    for place, character in enumerate(f"{text} "):
        size = cell_len(character)
        if character == "\n" or cells + size > width:
            if character == "\n" and place == cursor:
                cursor_at, cursor_row, row = len(row), len(rows), f"{row} "
            rows.append((row, cursor_at))
            row, cells, cursor_at = "", 0, None
        if character == "\n":
            continue
        if place == cursor:
            cursor_at, cursor_row = len(row), len(rows)
        row, cells = row + character, cells + size
    rows.append((row, cursor_at))
    return rows, cursor_row
