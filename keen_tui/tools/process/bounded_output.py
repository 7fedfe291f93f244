"""Output of any size in bounded memory: its head, its tail, and total counts."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable

from keen_tui.text.sanitize import clean

OutputSink = Callable[[str, int, int], None]
"""Takes live output: new cleaned text, then lines and bytes of output so far."""

HEAD_KEPT = 8_000
TAIL_KEPT = 8_000
"""Bytes of output that are kept from its beginning and from its end."""

MOST_WHOLE = HEAD_KEPT + TAIL_KEPT
"""Bytes of the longest output that is kept whole."""

_PIECE = 65_536
"""Bytes that are collected into one piece: a command may write byte by byte."""

CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes inside a UTF-8 character, never at its beginning."""


class Tail:
    """The last bytes of a stream."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces: deque[bytearray] = deque()
        self._held = 0
        self._fed = 0

    def feed(self, chunk: bytes) -> None:
        self._fed += len(chunk)
        chunk = chunk[-self._most :]
        if not self._pieces or len(self._pieces[-1]) >= _PIECE:
            self._pieces.append(bytearray())
        self._pieces[-1] += chunk
        self._held += len(chunk)
        while self._held - len(self._pieces[0]) >= self._most:
            self._held -= len(self._pieces.popleft())

    def kept(self) -> bytes:
        return b"".join(self._pieces)[-self._most :]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was fed."""
        return not self._fed

    @property
    def left_out(self) -> int:
        """Bytes that came before the kept ones."""
        return max(self._fed - self._most, 0)


class CapturedOutput:
    """Captures a stream of output."""

    def __init__(self) -> None:
        self.bytes = 0
        self._line_ends = 0
        self._head = b""
        self._tail = Tail(TAIL_KEPT)
        self._ends_in_line = False

    def feed(self, chunk: bytes) -> None:
        """Add output. The cost doesn't depend on what came before."""
        self.bytes += len(chunk)
        self._line_ends += chunk.count(b"\n")
        self._ends_in_line = not chunk.endswith(b"\n")
        room = HEAD_KEPT - len(self._head)
        self._head += chunk[:room]
        self._tail.feed(chunk[room:])

    @property
    def newest(self) -> bytes:
        """The newest output that is kept without a gap: all of it, or the tail."""
        tail = self._tail.kept()
        return tail if self._tail.left_out else self._head + tail

    @property
    def lines(self) -> int:
        """Lines so far, including an unfinished last one."""
        return self._line_ends + self._ends_in_line

    def text(self, kept: str = "") -> str:
        """The kept output, cleaned, with a line between head and tail that says what was left out.

        `kept` says where the whole output is, "" if it isn't saved.
        """
        tail = self._tail.kept()
        if not self._tail.left_out:
            return cleaned((self._head + tail).decode("utf-8", "replace"))
        head, tail = _whole_beginning(self._head), _whole_end(tail)
        size = self.bytes - len(head) - len(tail)
        lines = self._line_ends - head.count(b"\n") - tail.count(b"\n")
        left_out = f"{lines:,} lines, {size:,} bytes" if lines else f"{size:,} bytes"
        note = f"[… {left_out} left out{'; ' if kept else ''}{kept} …]"
        parts = (head.decode("utf-8", "replace"), tail.decode("utf-8", "replace"))
        return f"\n{note}\n".join(cleaned(part).strip("\n") for part in parts)


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
    return tail.lstrip(CONTINUATION)


def cleaned(output: str) -> str:
    """Output that is safe to show: without escape sequences, and with progress bars reduced to their last
    state."""
    if "\r" in output:
        output = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in output.split("\n"))
    return clean(output, newlines=True, tabs=True)
