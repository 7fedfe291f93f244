"""A program in a pseudo terminal, watched from outside: when words appear, and what it cost."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

_TICKS = os.sysconf("SC_CLK_TCK")


class TerminalProgram:
    """Runs `argv` in a terminal of `columns` x `rows` and reads what it draws."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 120,
        rows: int = 40,
        folder: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.output = bytearray()
        self.gaps: list[float] = []
        """Seconds between two pieces of output."""
        self._last_output = 0.0
        self.started_at = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.chdir(folder or Path.cwd())
            variables = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            os.execvpe(argv[0], list(argv), {**os.environ, **variables, **(environ or {})})
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def read(self, seconds: float) -> bytes:
        """What is drawn within `seconds`; returns as soon as there is something."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return b""
        try:
            piece = os.read(self._master, 1 << 20)
        except OSError:
            return b""
        now = time.perf_counter()
        if self._last_output:
            self.gaps.append(now - self._last_output)
        self._last_output = now
        self.output += piece
        return piece

    def wait_for(self, words: str, *, since: int = 0, seconds: float = 120.0) -> float:
        """Wait until `words` are drawn behind byte `since` of the output; seconds on the perf counter.

        Raises:
            TimeoutError: they never came.
        """
        wanted = words.encode()
        return self.wait_until(lambda: wanted in self.output[max(since - len(wanted), 0) :], seconds, words)

    def wait_until(self, reached: Callable[[], bool], seconds: float, what: str) -> float:
        """Read until `reached`."""
        end = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > end:
                raise TimeoutError(f"{what!r} never came; the last output was {bytes(self.output[-2000:])!r}")
            self.read(0.05)
        return time.perf_counter()

    def settle(self, seconds: float) -> None:
        """Read until nothing was drawn for `seconds`."""
        while self.read(seconds):
            pass

    def cpu(self) -> float:
        """CPU seconds that the program itself has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def rss(self) -> float:
        """Megabytes of memory in use."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
