"""Keys typed while most of the program is imported. Standard library only.

They are read as they come, not left in the terminal's buffer: when one read gives all of it at once, nobody
can tell an escape and a letter from one key, or lines that were typed from lines that were pasted.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

_CHUNK: Final = 65_536


class KeyRead(NamedTuple):
    """The bytes of one read, and its time in seconds of the monotonic clock. Empty data marks the last read:
    nothing more had come by then."""

    at: float
    data: bytes


class EarlyKeys:
    """Reads a terminal in a thread, until somebody else takes over or `stop` is called."""

    def __init__(self, stdin: int) -> None:
        self._stdin = stdin
        self._pieces: list[KeyRead] = []
        self._wakes, self._wake = os.pipe()
        self._thread: threading.Thread | None = threading.Thread(
            target=self._read, name="early-keys", daemon=True
        )
        self._thread.start()

    def take_over(self) -> Sequence[KeyRead]:
        """Stop reading; what was read so far, once."""
        self.stop()
        pieces, self._pieces = self._pieces, []
        return pieces

    def stop(self) -> None:
        """Read no more. Nothing is lost: what was not read stays in the terminal's buffer."""
        thread, self._thread = self._thread, None
        if thread:
            os.write(self._wake, b"x")
            thread.join()
            os.close(self._wake)
            os.close(self._wakes)

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._stdin, self._wakes], [], [])
            if self._stdin not in ready:
                self._pieces.append(KeyRead(time.monotonic(), b""))
            if self._wakes in ready:
                return
            try:
                data = os.read(self._stdin, _CHUNK)
            except OSError:
                return
            if not data:  # the terminal is gone
                return
            self._pieces.append(KeyRead(time.monotonic(), data))
