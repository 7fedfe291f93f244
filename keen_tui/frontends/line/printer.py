"""Prints whole lines that are only appended and safe to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TextIO

from keen_tui.text.sanitize import clean


class LinePrinter:
    """Writes lines. `spoke` says whether it has written any since it was last reset; `is_gone`: the terminal
    has closed.

    Args:
        make_room: ends a row with a prompt or a half-typed line.
    """

    def __init__(self, out: TextIO, make_room: Callable[[], None] = lambda: None) -> None:
        self._out = out
        self._make_room = make_room
        self.spoke = False
        self.is_gone = False

    def say(self, *lines: str | None) -> None:
        """Write these lines; None is no line."""
        self.read(line for line in lines if line is not None)

    def read(self, lines: Iterable[str]) -> None:
        """Write these lines."""
        text = "".join(f"{clean(line)}\n" for line in lines)
        if not text or self.is_gone:
            return
        self._make_room()
        self.spoke = True
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError):  # the terminal is gone
            self.is_gone = True
