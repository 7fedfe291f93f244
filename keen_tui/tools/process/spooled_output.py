"""Saves the output of a command in a file if it is too long for a result."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from keen_tui.system.folders import make_private
from keen_tui.tools.process.bounded_output import MOST_WHOLE, CapturedOutput, Tail

FIRST_BYTES = 12_000_000
LAST_BYTES = 4_000_000
"""Bytes of the beginning and of the end of the output that the file has; together less than the largest file
that read_file reads."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

log = logging.getLogger(__name__)


class KeptOutput:
    """Takes the output of one command live, in any thread. The file is created once the output is long
    enough.

    Only the user can read the file (0600). Output that can't be written is lost, but stops nothing: no method
    raises OSError.

    Args:
        new_file: names a new file; None: nothing is saved.
    """

    def __init__(self, new_file: Callable[[], Path | None]) -> None:
        self._new_file = new_file
        self._path: Path | None = None
        self._file: int | None = None
        self._begun = b""
        self._room = FIRST_BYTES
        self._tail = Tail(LAST_BYTES)
        self._given_up = False

    def feed(self, chunk: bytes) -> None:
        """Add output."""
        if self._given_up:
            return
        if self._file is None:
            self._begun += chunk
            if len(self._begun) <= MOST_WHOLE:
                return
            chunk, self._begun = self._begun, b""
            if not self._open():
                return
        first, rest = (chunk, b"") if len(chunk) <= self._room else (chunk[: self._room], chunk[self._room :])
        self._room -= len(first)
        self._write(first)
        self._tail.feed(rest)

    @property
    def so_far(self) -> str:
        """Says which output is where while the command runs, "" if there is no file. The last bytes are added
        at the end."""
        if self._file is None:
            return ""
        if self._tail.is_empty:
            return f"the output so far is in {self._path}"
        return f"only the first {FIRST_BYTES:,} bytes are in {self._path} until it ends"

    def close(self) -> str:
        """Finish the file. Returns a text that says which output is where, "" if there is no file."""
        if self._file is None:
            return ""
        left_out = self._tail.left_out
        if left_out:
            self._write(f"\n[… {left_out:,} bytes left out …]\n".encode())
        self._write(self._tail.kept())
        self._close()
        if self._given_up:
            return ""
        if left_out:
            return f"the first {FIRST_BYTES:,} and the last {LAST_BYTES:,} bytes are in {self._path}"
        return f"the whole output is in {self._path}"

    def discard(self) -> None:
        """Remove the file: nobody will learn about it."""
        self._given_up = True
        self._close()
        if self._path:
            with suppress(OSError):
                self._path.unlink()

    def _open(self) -> bool:
        path = self._new_file()
        try:
            if path:
                make_private(path.parent)
                self._file, self._path = os.open(path, _NEW, 0o600), path
        except OSError as error:
            log.warning("the output of a command can't be kept: %s", error)
        self._given_up = self._file is None
        return not self._given_up

    def _write(self, content: bytes) -> None:
        view = memoryview(content)
        while view and self._file is not None:
            try:
                view = view[os.write(self._file, view) :]
            except OSError as error:
                log.warning("the output of a command can't be kept: %s", error)
                self.discard()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def capped(text: str, new_file: Callable[[], Path | None]) -> str:
    """The text; if it is too long, its beginning and end, and the name of a file that has all of it.
    Blocks."""
    captured, kept = CapturedOutput(), KeptOutput(new_file)
    content = text.encode("utf-8", "replace")
    captured.feed(content)
    kept.feed(content)
    return captured.text(kept.close())
