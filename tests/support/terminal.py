"""Runs a program in a pseudo terminal and watches it from outside: when words appear, and how much CPU that
took."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

from tests.support.waiting import LIMIT, wait_until

UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][0-9;]*[a-zA-Z$]+")
"""Private sequences, such as those of the kitty keyboard protocol, that pyte treats as text."""

_LONGEST_SEQUENCE = 40
_AT_REST = 0.03
"""The most CPU that a program at rest uses, as a share of a processor."""
_SCHEDULED = 2
"""The type, in the id of a process clock, that counts scheduled time."""


_TAKE_TERMINAL = """\
import fcntl, os, sys, termios
from tests.support.waiting import LIMIT, wait_until
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal the program's controlling terminal, so that keys can send signals."""


class TerminalProgram:
    """Runs `argv` in a terminal of `columns` x `rows` and reads what it draws. If it `controls` the program,
    ctrl+c is a signal, unless the program turns that off."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 120,
        rows: int = 40,
        folder: Path | None = None,
        environ: Mapping[str, str] | None = None,
        controls: bool = False,
    ) -> None:
        argv = (sys.executable, "-c", _TAKE_TERMINAL, *argv) if controls else argv
        self.output = bytearray()
        self.pieces: list[tuple[float, float]] | None = None
        """If it is a list, it collects `perf_counter` and `queued` at each piece of output."""
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._drawn = 0
        self._is_gone = False
        self.modes_before = termios.tcgetattr(self._slave)
        variables = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        # The size is the terminal's own, even if a test runner sets variables for another one.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.started_at = time.perf_counter()
        self._process = subprocess.Popen(
            list(argv),
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            cwd=folder,
            env={**inherited, **variables, **(environ or {})},
            start_new_session=True,
        )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Take the terminal away, as when its window is closed. Further calls do nothing."""
        if not self._is_gone:
            self._is_gone = True
            os.close(self._master)
            os.close(self._slave)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def wait_until_read(self) -> None:
        """Wait until the program has read everything that was typed; it reads nothing before its first
        picture."""

        def unread() -> int:
            count: int = struct.unpack("i", fcntl.ioctl(self._slave, termios.FIONREAD, b"\0" * 4))[0]
            return count

        self.wait_until(lambda: not unread(), "the program reading what was typed")

    def paste(self, text: str) -> None:
        """Send a bracketed paste of any size, as fast as the program takes it."""
        left = memoryview(f"\x1b[200~{text}\x1b[201~".encode())
        while left:
            self.read(0)
            if select.select([], [self._master], [], 0.05)[1]:
                left = left[os.write(self._master, left[:1024]) :]

    def read(self, seconds: float) -> bytes:
        """The output within `seconds`; returns as soon as there is some."""
        if self._is_gone:
            time.sleep(seconds)
            return b""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return b""
        try:
            piece = os.read(self._master, 1 << 20)
        except OSError:
            return b""
        if self.pieces is not None:
            self.pieces.append((time.perf_counter(), self.queued()))
        self.output += piece
        return piece

    def wait_for(self, words: str, *, since: int = 0, seconds: float = LIMIT) -> float:
        """Wait until `words` are drawn after byte `since` of the output. Returns the time on the perf
        counter.

        Raises:
            TimeoutError: they never appeared.
        """
        wanted = words.encode()
        return self.wait_until(
            lambda: wanted in self.output[max(since - len(wanted), 0) :], words, seconds=seconds
        )

    def wait_until(self, reached: Callable[[], object], what: str, *, seconds: float = LIMIT) -> float:
        """Read until `reached`, which `what` describes. Returns the time on the perf counter."""
        wait_until(
            reached,
            moment=lambda: self.read(0.05),
            says=lambda: f"for {what!r}; on the screen:\n{self.screen()}",
            limit=seconds,
        )
        return time.perf_counter()

    def settle(self, seconds: float) -> None:
        """Read until nothing was drawn for `seconds`."""
        while self.read(seconds):
            pass

    def come_to_rest(self, seconds: float) -> None:
        """Read until nothing was drawn and almost nothing computed for `seconds`, in any thread."""
        before = -1.0
        while self.cpu() - before > _AT_REST * seconds:
            before = self.cpu()
            self.settle(seconds)

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal, and notify the program."""
        self.screen()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)
        os.kill(self.pid, signal.SIGWINCH)

    def wait_for_exit(self, seconds: float = LIMIT) -> int:
        """Wait until the program has ended. Returns its exit code."""
        self.wait_until(lambda: self._process.poll() is not None, "the end of the program", seconds=seconds)
        self.settle(0.1)
        return self._process.returncode

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the program runs. Reads nothing."""
        return self._process.poll()

    @property
    def modes(self) -> list[object]:
        """The current modes of the terminal; `modes_before` are those at the start."""
        return termios.tcgetattr(self._slave)

    def screen(self) -> str:
        """The current screen, row by row."""
        whole = len(self.output)
        begun = self.output.rfind(b"\x1b", max(whole - _LONGEST_SEQUENCE, self._drawn))
        end = begun if begun >= 0 else whole  # half of a sequence may have been read
        self._stream.feed(UNKNOWN_TO_PYTE.sub(b"", bytes(self.output[self._drawn : end])))
        self._drawn = end
        return "\n".join(row.rstrip() for row in self._screen.display)

    def forget_output(self) -> None:
        """Clear `output`; the screen stays."""
        self.screen()
        del self.output[: self._drawn]
        self._drawn = 0

    def wait_for_screen(self, *words: str, seconds: float = LIMIT) -> None:
        """Wait until all of `words` are on the screen at once; they may be drawn in several pieces."""
        what = " and ".join(words)
        self.wait_until(lambda: all(each in self.screen() for each in words), what, seconds=seconds)

    def cpu(self) -> float:
        """CPU seconds that all threads of the program have used; not those of its children."""
        return time.clock_gettime(~self.pid << 3 | _SCHEDULED)

    def loop_cpu(self) -> float:
        """CPU seconds that the program's main thread has used; exact while it is waiting."""
        return self._scheduling()[0]

    def queued(self) -> float:
        """Seconds for which the program's main thread, or this thread, was ready but got no processor."""
        here = Path("/proc/thread-self/schedstat").read_text().split()[1]
        return self._scheduling()[1] + int(here) / 1e9

    def _scheduling(self) -> tuple[float, float]:
        used, queued, _ = Path(f"/proc/{self.pid}/task/{self.pid}/schedstat").read_text().split()
        return int(used) / 1e9, int(queued) / 1e9

    def rss(self) -> float:
        """Megabytes of memory in use."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def forget_peak(self) -> None:
        """Reset `peak_rss`."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def peak_rss(self) -> float:
        """The peak memory in megabytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
