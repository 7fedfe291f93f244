"""Starts a process from a thread of its own, which is permanently confined first.

For the kernel the thread and the process are equals, so the process could use the thread to kill all of Keen
and to read its environment. Therefore the process begins only when the thread has ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from keen_tui.system.threads import to_the_end
from keen_tui.tools.orphans.start_gate import gate
from keen_tui.tools.sandbox.base import Launch


class ConfinedProcess:
    """Like a process of asyncio, as far as Keen needs it. `returncode` is None until it has ended."""

    def __init__(self, pid: int, ended: asyncio.Future[int]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended
        ended.add_done_callback(self._note)

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def _note(self, ended: asyncio.Future[int]) -> None:
        self.returncode = ended.result()


async def start_confined(
    launch: Launch, *, folder: Path, environ: Mapping[str, str], output: int, note: Callable[[int], None]
) -> ConfinedProcess:
    """Start a process in its own session, with both outputs to the descriptor `output`. `note` is
    called with its process ID, in a thread, before the command begins.

    Raises:
        OSError: it can't be confined or started.
    """
    loop = asyncio.get_running_loop()
    started: asyncio.Future[int] = loop.create_future()
    ended: asyncio.Future[int] = loop.create_future()

    def run() -> None:
        try:
            process = _started_apart(launch, folder, environ, output, note)
        except Exception as error:
            _tell(loop, started.set_exception, error)
            return
        _tell(loop, started.set_result, process.pid)
        _tell(loop, ended.set_result, process.wait())

    threading.Thread(target=run, name="waiting for a command", daemon=True).start()

    async def kill() -> None:
        await asyncio.wait({started})
        if started.exception() is None:
            with suppress(ProcessLookupError):
                os.killpg(started.result(), signal.SIGKILL)

    try:
        return ConfinedProcess(await asyncio.shield(started), ended)
    except asyncio.CancelledError:
        await to_the_end(kill())
        raise


def _started_apart(
    launch: Launch, folder: Path, environ: Mapping[str, str], output: int, note: Callable[[int], None]
) -> subprocess.Popen[bytes]:
    """Start it in a confined thread, and open its gate when the thread has ended."""

    def start() -> tuple[subprocess.Popen[bytes], int]:
        assert launch.confine is not None
        launch.confine()
        process = subprocess.Popen(
            at_gate.held(launch.argv, environ),
            cwd=folder,
            env=environ,
            stdin=at_gate.closed,
            stdout=output,
            stderr=output,
            start_new_session=True,
            close_fds=False,
        )
        return process, threading.get_native_id()

    with gate(note) as at_gate:
        with ThreadPoolExecutor(1, thread_name_prefix="confined") as threads:
            process, thread = threads.submit(start).result()
        while Path("/proc/self/task", str(thread)).exists():
            time.sleep(0)  # it is ending: the command must not see what it still holds
        at_gate.open(process.pid, environ)
    return process


def _tell(loop: asyncio.AbstractEventLoop, action: object, value: object) -> None:
    with suppress(RuntimeError):  # the loop is closed: nothing waits any more
        loop.call_soon_threadsafe(action, value)  # type: ignore[arg-type]
