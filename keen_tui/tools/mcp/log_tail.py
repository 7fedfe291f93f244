"""The last lines that a server wrote to its standard error or sent as log messages."""

from __future__ import annotations

from collections import deque
from typing import Final

from keen_tui.text.redaction import masked
from keen_tui.text.sanitize import clean

MOST_LINES: Final = 200
LONGEST_LINE: Final = 500
"""Characters after which a line is cut."""


class LogTail:
    """Keeps the newest lines, cleaned and with secrets masked."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MOST_LINES)

    def add(self, text: str) -> None:
        """Add one or more lines of text. Empty lines are dropped."""
        for line in text[-MOST_LINES * LONGEST_LINE :].splitlines()[-MOST_LINES:]:
            if words := clean(masked(line[: 2 * LONGEST_LINE])).strip():
                self._lines.append(words[:LONGEST_LINE])

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, oldest first."""
        return tuple(self._lines)

    @property
    def last(self) -> str:
        """The newest line, "" for none."""
        return self._lines[-1] if self._lines else ""
