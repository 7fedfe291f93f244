"""The pipe for a command's output, read in its own thread."""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

PIPE_BYTES = 1 << 20
"""Bytes of the pipe's buffer: with less, a flood of output would wait for us every few lines."""

_CHUNK = 1 << 18


@asynccontextmanager
async def output_pipe(
    on_output: Callable[[bytes], None],
) -> AsyncIterator[tuple[int, asyncio.Future[None]]]:
    """A pipe. Yields its writable end, which the caller closes, and a future for its end of file.

    `on_output` is called in the reading thread, with one piece after another; a command that floods the pipe
    waits until it returns. On leaving, the bytes in the pipe are still read, but none that come later, and
    `on_output` isn't called any more after that. An exception of `on_output` is raised on leaving.
    """
    readable, writable = os.pipe()
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(writable, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    reader = _Reader(readable, on_output)
    try:
        yield writable, reader.ended
    finally:
        reader.stop()
        await asyncio.wait({reader.ended})
        reader.close()
    if reader.failure:
        raise reader.failure


class _Reader:
    """Reads a pipe to its end, or until it is stopped. Created and used by the event loop."""

    def __init__(self, readable: int, on_output: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._readable = readable
        self._on_output = on_output
        self.failure: Exception | None = None
        self._stopped = False
        self._woken, self._wake = os.pipe()
        os.set_blocking(readable, False)
        threading.Thread(target=self._run, name="command output", daemon=True).start()

    def stop(self) -> None:
        """Read only what is in the pipe now."""
        self._stopped = True
        os.write(self._wake, b".")

    def close(self) -> None:
        for descriptor in (self._readable, self._woken, self._wake):
            os.close(descriptor)

    def _run(self) -> None:
        try:
            self._read()
        finally:
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                self._loop.call_soon_threadsafe(self.ended.set_result, None)

    def _read(self) -> None:
        waiting = select.poll()
        for descriptor in (self._readable, self._woken):
            waiting.register(descriptor, select.POLLIN)
        left = PIPE_BYTES
        while left > 0:
            stopped = self._stopped  # before reading, so that everything written before the stop is read
            try:
                chunk = os.read(self._readable, _CHUNK)
            except BlockingIOError:
                if stopped:
                    return
                waiting.poll()
                continue
            if not chunk:
                return
            left -= len(chunk) if stopped else 0
            self._pass_on(chunk)

    def _pass_on(self, chunk: bytes) -> None:
        """Pass on a piece. After a failure the rest is dropped: the command must not wait on a pipe that
        nobody reads."""
        if self.failure is None:
            try:
                self._on_output(chunk)
            except Exception as error:
                self.failure = error
