"""Output of any size in bounded memory: its head, its tail, and counts of all of it."""

from __future__ import annotations

import codecs
from collections import deque

from keen_tui.plain import clean

HEAD_KEPT = 8_000
TAIL_KEPT = 8_000
"""Bytes of output that are kept from its beginning and from its end."""


class CapturedOutput:
    """Takes bytes as they come."""

    def __init__(self) -> None:
        self.bytes = 0
        self._line_ends = 0
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._ends_in_line = False

    def feed(self, chunk: bytes) -> None:
        """Add output. Costs the same however much came before."""
        self.bytes += len(chunk)
        self._line_ends += chunk.count(b"\n")
        self._ends_in_line = not chunk.endswith(b"\n")
        room = HEAD_KEPT - len(self._head)
        self._head += chunk[:room]
        self._add_to_tail(chunk[room:])

    def _add_to_tail(self, chunk: bytes) -> None:
        chunk = chunk[-TAIL_KEPT:]
        if not chunk:
            return
        self._tail.append(chunk)
        self._tail_bytes += len(chunk)
        while self._tail_bytes - len(self._tail[0]) >= TAIL_KEPT:
            self._tail_bytes -= len(self._tail.popleft())

    @property
    def lines(self) -> int:
        """Lines so far, an unfinished last one included."""
        return self._line_ends + self._ends_in_line

    def text(self) -> str:
        """What was kept, cleaned, with a line that says what was left out between head and tail."""
        tail = b"".join(self._tail)[-TAIL_KEPT:]
        if self.bytes == len(self._head) + len(tail):
            return cleaned((self._head + tail).decode("utf-8", "replace"))
        head, tail = _whole_beginning(self._head), _whole_end(tail)
        size = self.bytes - len(head) - len(tail)
        lines = self._line_ends - head.count(b"\n") - tail.count(b"\n")
        left_out = f"{lines:,} lines, {size:,} bytes" if lines else f"{size:,} bytes"
        parts = (head.decode("utf-8", "replace"), tail.decode("utf-8", "replace"))
        return f"\n[… {left_out} left out …]\n".join(cleaned(part).strip("\n") for part in parts)


def _whole_beginning(head: bytes) -> bytes:
    """The head up to its last whole line, or at least its last whole character."""
    lines, end, _ = head.rpartition(b"\n")
    if end:
        return lines + end
    return codecs.getincrementaldecoder("utf-8")("replace").decode(head).encode()


def _whole_end(tail: bytes) -> bytes:
    """The tail from its first whole line on, or at least its first whole character."""
    _, end, lines = tail.partition(b"\n")
    if end and lines:
        return lines
    return tail.lstrip(bytes(range(0x80, 0xC0)))


def cleaned(output: str) -> str:
    """Output as it may be shown: escape sequences gone, progress bars folded to what they last showed."""
    if "\r" in output:
        output = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in output.split("\n"))
    return clean(output, newlines=True, tabs=True)
