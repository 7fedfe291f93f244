"""A process that is started by a thread of its own, which is confined first, for good.

For the kernel that thread is no more protected from the process than the process from itself, and through a
thread all of its program can be killed and its environment read. So the process begins only when the thread
has ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from keen_tui.tools.process.start_gate import gate
from keen_tui.tools.sandbox.base import Launch


class ConfinedProcess:
    """As a process of asyncio, as far as that is used here. `returncode` is None until it has ended."""

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
    launch: Launch, *, folder: Path, environ: Mapping[str, str], output: int
) -> ConfinedProcess:
    """Start it with both outputs to the descriptor `output`, in a session of its own.

    Raises:
        OSError: it can't be confined, or can't be started.
    """
    loop = asyncio.get_running_loop()
    started: asyncio.Future[int] = loop.create_future()
    ended: asyncio.Future[int] = loop.create_future()

    def run() -> None:
        try:
            process = _started_apart(launch, folder, environ, output)
        except Exception as error:
            _tell(loop, started.set_exception, error)
            return
        _tell(loop, started.set_result, process.pid)
        _tell(loop, ended.set_result, process.wait())

    threading.Thread(target=run, name="waiting for a command", daemon=True).start()
    try:
        return ConfinedProcess(await asyncio.shield(started), ended)
    except asyncio.CancelledError:
        await asyncio.wait({started})
        if started.exception() is None:
            with suppress(ProcessLookupError):
                os.killpg(started.result(), signal.SIGKILL)
        raise


def _started_apart(
    launch: Launch, folder: Path, environ: Mapping[str, str], output: int
) -> subprocess.Popen[bytes]:
    """Start it in a thread that is confined, and open its gate when the thread is gone."""

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

    with gate() as at_gate:
        with ThreadPoolExecutor(1, thread_name_prefix="confined") as threads:
            process, thread = threads.submit(start).result()
        while Path("/proc/self/task", str(thread)).exists():
            time.sleep(0)  # it is ending: what it holds of ours must not be seen by the command
        at_gate.open(process.pid, environ)
    return process


def _tell(loop: asyncio.AbstractEventLoop, action: object, value: object) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(action, value)  # type: ignore[arg-type]
