"""The program of one page: the usual program, in a pseudo terminal of the server.

When the server closes the terminal, or is killed, the system sends SIGHUP to the program. The program then
saves everything and ends, as if the window of a terminal had been closed.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import sys
import termios
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Self

from keen_tui.system.served import VARIABLE

_CHUNK: Final = 65_536
_PATIENCE: Final = 15.0
"""Seconds that the program may take to save everything; after that it is killed."""
_LARGEST: Final = 1_000
"""The most columns or rows of a page."""
_OF_TERMINALS: Final = (
    "COLUMNS",
    "LINES",
    "COLORFGBG",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "KITTY_WINDOW_ID",
    "VTE_VERSION",
    "WT_SESSION",
    "TMUX",
    "STY",
    "TEXTUAL_DRIVER",
)
"""Variables about the server's own terminal, which the program doesn't get."""
_TAKE_TERMINAL: Final = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, (sys.executable, "-P", "-m", "keen_tui", *sys.argv[1:]))
"""
"""Makes the terminal the controlling terminal of the program, so that it sends the program its signals."""


class ClientProgram:
    """A running program, and the server's end of its terminal."""

    def __init__(self, process: Process, master: int) -> None:
        self.process = process
        self._master = master

    @classmethod
    async def start(
        cls, arguments: Sequence[str], environ: Mapping[str, str], columns: int, rows: int
    ) -> Self:
        """Start the program in the current folder.

        Raises:
            OSError: the system has no more terminals or processes.
        """
        master, slave = os.openpty()
        try:
            _resize(slave, columns, rows)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                "-c",
                _TAKE_TERMINAL,
                *arguments,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=environment(environ),
                start_new_session=True,
            )
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(master, False)
        return cls(process, master)

    async def output(self) -> bytes:
        """The next output of the program, b"" at its end."""
        while True:
            try:
                return os.read(self._master, _CHUNK)
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await self._ready(loop.add_reader, loop.remove_reader)
            except OSError:  # the program has closed its end
                return b""

    async def send(self, data: bytes) -> None:
        """Type the data. If the program has ended, the rest is lost."""
        while data and self._master >= 0:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await self._ready(loop.add_writer, loop.remove_writer)
            except OSError:
                return

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        with suppress(OSError):
            _resize(self._master, columns, rows)

    async def end(self) -> int:
        """Close the terminal, and wait until the program has saved everything and ended. Returns its exit
        code."""
        master, self._master = self._master, -1
        os.close(master)
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self.process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            return await self.process.wait()

    async def _ready(
        self, watch: Callable[[int, Callable[[], object]], object], stop: Callable[[int], object]
    ) -> None:
        master, came = self._master, asyncio.Event()
        watch(master, came.set)
        try:
            await came.wait()
        finally:
            stop(master)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program for a page."""
    kept = {name: value for name, value in environ.items() if name not in _OF_TERMINALS}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", VARIABLE: "1"}


def _resize(descriptor: int, columns: int, rows: int) -> None:
    columns, rows = (min(max(length, 1), _LARGEST) for length in (columns, rows))
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
