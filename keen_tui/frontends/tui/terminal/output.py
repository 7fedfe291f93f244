"""Writing to a terminal that may be slow, unread or gone. Nothing here raises, or waits without a limit."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from typing import Final, TextIO

_CHUNK: Final = 4_096
"""Bytes written at a time; each counts as progress."""
_LAST_WORDS: Final = 1.0
"""Seconds that `write_at_end` waits."""


class TerminalOutput:
    """The terminal as the file that Textual's writer thread writes to.

    If the terminal is gone, text is dropped: the thread never fails, since whoever waits for it would hang.
    """

    def __init__(self, stream: TextIO, on_rest: Callable[[], None] = lambda: None) -> None:
        self._fileno, self._encoding = stream.fileno(), stream.encoding
        self._on_rest = on_rest
        self._is_gone = False
        self._taken = 0

    def taken(self) -> int:
        """Bytes that the terminal has taken, or that were dropped because it is gone."""
        return self._taken

    def fileno(self) -> int:
        """The terminal's file descriptor."""
        return self._fileno

    def write(self, text: str) -> int:
        """Write to the terminal; blocks until it has taken everything. Returns the number of characters."""
        left = memoryview(text.encode(self._encoding, "backslashreplace"))
        while left:
            took = len(left) if self._is_gone else self._written(left[:_CHUNK])
            left = left[took:]
            self._taken += took
        return len(text)

    def flush(self) -> None:
        """Called when nothing waits to be written."""
        self._on_rest()

    def _written(self, piece: memoryview) -> int:
        try:
            return os.write(self._fileno, piece)
        except BlockingIOError:  # another program has made the terminal non-blocking
            select.select([], [self._fileno], [])
        except OSError:
            self._is_gone = True
        return 0


def write_at_end(text: str, stream: TextIO | None) -> None:
    """Write to a terminal when the program ends; give up after a second, or if the terminal is gone."""
    if text and stream:
        writer = threading.Thread(target=TerminalOutput(stream).write, args=(text,), daemon=True)
        writer.start()
        writer.join(_LAST_WORDS)


def ends_while_moving(
    thread: threading.Thread, progress: Callable[[], int], *, still: float, most: float
) -> bool:
    """Wait for the end of a thread. False: it made no progress for `still` seconds, or took more than `most`
    seconds."""
    end, before = time.monotonic() + most, -1
    while thread.is_alive() and progress() != before and time.monotonic() < end:
        before = progress()
        thread.join(still)
    return not thread.is_alive()
