"""The output of a command in the background: the newest part in memory, all of it in a file if it is long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from keen_tui.text.redaction import KeysTakenOut
from keen_tui.tools.process.bounded_output import CONTINUATION, Tail, cleaned
from keen_tui.tools.process.command_output import OutputSoFar
from keen_tui.tools.process.spooled_output import KeptOutput

MOST_HELD = 64_000
"""The most bytes of output that are held in memory: the newest."""

MOST_SHOWN = 16_000
"""The most bytes of output in one result."""


class OutputPiece(Struct, frozen=True, kw_only=True):
    """A piece of output, cleaned. Places count bytes from the beginning of the output: `end` is the place
    after the piece, `left_out` the number of bytes that were asked for and aren't in it."""

    text: str
    end: int
    left_out: int


class HeldOutput:
    """Collects output while a command runs. Thread-safe. API keys are removed.

    Args:
        new_file: names a file for long output; if it returns None, such output isn't saved.
        keys: the API keys to remove.
    """

    def __init__(self, new_file: Callable[[], Path | None], keys: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._without_keys = KeysTakenOut(keys)
        self._kept = KeptOutput(new_file)
        self._tail = Tail(MOST_HELD)
        self._bytes = 0
        self._file = ""

    @classmethod
    def continuing(cls, so_far: OutputSoFar) -> HeldOutput:
        """Continue the output of a command that was moved to the background."""
        held = cls(lambda: None, ())
        held._without_keys, held._kept = so_far.without_keys, so_far.kept
        held._tail.feed(so_far.newest)
        held._bytes = so_far.size
        return held

    def feed(self, chunk: bytes) -> None:
        """Add output."""
        with self._lock:
            self._add(self._without_keys.feed(chunk))

    def end(self) -> None:
        """Call this at the end of the output. Writes the rest of the file."""
        with self._lock:
            self._add(self._without_keys.rest())
            self._file = self._kept.close()

    @property
    def size(self) -> int:
        """Bytes of output so far."""
        return self._bytes

    @property
    def file(self) -> str:
        """Words that say which output is in which file, "" if there is no file."""
        with self._lock:
            return self._file or self._kept.so_far

    @property
    def last_line(self) -> str:
        """The newest line that isn't empty, "" if there is none."""
        with self._lock:
            lines = cleaned(self._tail.kept()[-2_000:].decode("utf-8", "replace")).splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def since(self, place: int) -> OutputPiece:
        """The output from this place on, at most the newest `MOST_SHOWN` bytes of it."""
        with self._lock:
            held, end = self._tail.kept(), self._bytes
        begin = min(max(place, end - len(held), end - MOST_SHOWN), end)
        shown = held[len(held) - (end - begin) :] if begin < end else b""
        left_out = max(begin - max(place, 0), 0)
        text = shown.lstrip(CONTINUATION) if left_out else shown
        return OutputPiece(text=cleaned(text.decode("utf-8", "replace")), end=end, left_out=left_out)

    def _add(self, chunk: bytes) -> None:
        self._bytes += len(chunk)
        self._kept.feed(chunk)
        self._tail.feed(chunk)
