"""Output of any size in bounded memory: its head, its tail, and counts of all of it."""

from __future__ import annotations

import re
from collections import deque

from keen_tui.plain import clean

HEAD_KEPT = 8_000
TAIL_KEPT = 8_000
"""Bytes of output that are kept from its beginning and from its end."""


class CapturedOutput:
    """Takes bytes as they come."""

    def __init__(self) -> None:
        self.bytes = 0
        self.lines = 0
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._ends_in_line = False

    def feed(self, chunk: bytes) -> None:
        """Add output. Costs the same however much came before."""
        self.bytes += len(chunk)
        self.lines += chunk.count(b"\n")
        self._ends_in_line = not chunk.endswith(b"\n")
        room = HEAD_KEPT - len(self._head)
        self._head += chunk[:room]
        self._add_to_tail(chunk[max(room, 0) :])

    def _add_to_tail(self, chunk: bytes) -> None:
        chunk = chunk[-TAIL_KEPT:]
        if not chunk:
            return
        self._tail.append(chunk)
        self._tail_bytes += len(chunk)
        while self._tail_bytes - len(self._tail[0]) >= TAIL_KEPT:
            self._tail_bytes -= len(self._tail.popleft())

    @property
    def line_count(self) -> int:
        """Lines so far, an unfinished last one included."""
        return self.lines + self._ends_in_line

    def text(self) -> str:
        """What was kept, cleaned, with a line that says what was left out."""
        tail = b"".join(self._tail)[-TAIL_KEPT:]
        left_out = self.bytes - len(self._head) - len(tail)
        if left_out <= 0:
            return cleaned(self._head + tail)
        note = f"\n[… {left_out:,} bytes of {self.line_count:,} lines left out …]\n"
        return cleaned(self._head) + note + cleaned(tail)


def cleaned(output: bytes) -> str:
    """Output as text: escape sequences gone, progress bars folded to what they last showed."""
    text = output.decode("utf-8", "replace").replace("\r\n", "\n")
    if "\r" in text:
        text = re.sub(r"[^\n]*\r(?=[^\n\r])", "", text).replace("\r", "")
    return clean(text, newlines=True, tabs=True)
