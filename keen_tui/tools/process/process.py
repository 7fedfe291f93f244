"""Runs a shell command in its own process group, ends it in time, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keen_tui.system.threads import to_the_end
from keen_tui.system.time_limit import TimeLimit
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.orphans.start_gate import gate
from keen_tui.tools.orphans.strays import MARK, can_find_strays, end_strays, signal_others
from keen_tui.tools.process.confined_process import ConfinedProcess, start_confined
from keen_tui.tools.process.output_pipe import output_pipe
from keen_tui.tools.sandbox.base import Launch, in_thread

DRAIN_SECONDS = 0.2
"""Seconds for which output is still read after the shell has ended, if something else holds the pipe."""

TERM_GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""


_Process = asyncio.subprocess.Process | ConfinedProcess


class Ended(Struct, frozen=True):
    """How a command ended. `code` is 124 after a time-out and 128+N for death by signal N.

    `left_running` says whether processes of the command were still running and were ended with it; None if
    that is unknown, because the sandbox ends them itself.
    """

    code: int
    timed_out: bool = False
    left_running: bool | None = False


async def run_command(
    launch: Launch,
    *,
    folder: Path,
    timeout: float | TimeLimit | None,
    on_output: Callable[[bytes], None],
) -> Ended:
    """Run a command to its end. A reading thread passes stdout and stderr to `on_output`, in order of
    arrival.

    No process of it outlives this program, even if the program is killed. The call ends with the command's
    own process: processes that it left in the background are killed, even those in a session of their own,
    and a pipe that something still holds isn't waited for. A time-out sends SIGTERM first; None is no limit.
    Cancelling kills everything at once.

    Raises:
        OSError: the command can't be started.
    """
    mark = secrets.token_hex(8)
    watching = guard().command(mark, launch.argv[-1])
    async with in_thread(watching) as watched, output_pipe(on_output) as (writable, drained):
        try:
            environ = {**launch.environ, MARK: mark}
            process = await _started(launch, folder, environ, writable, watched.started)
        finally:
            os.close(writable)
        try:
            limit = timeout if isinstance(timeout, TimeLimit) else TimeLimit(timeout)
            timed_out = not await _ended_within(process, limit)
            if timed_out:
                await _terminate(process, wrapped=launch.wrapped)
            left_running = await _end_rest(process.pid, mark)
        except asyncio.CancelledError:
            _signal(process.pid, signal.SIGKILL)
            await to_the_end(_end_all(process, mark))
            raise
        await asyncio.wait({drained}, timeout=DRAIN_SECONDS)
    code = process.returncode if process.returncode is not None else -signal.SIGKILL
    code = 124 if timed_out else code if code >= 0 else 128 - code
    return Ended(code, timed_out, None if launch.wrapped else left_running)


async def _end_all(process: _Process, mark: str) -> None:
    await _end_rest(process.pid, mark)
    await process.wait()


async def _started(
    launch: Launch, folder: Path, environ: Mapping[str, str], output: int, note: Callable[[int], None]
) -> _Process:
    if launch.confine:
        return await start_confined(launch, folder=folder, environ=environ, output=output, note=note)
    with gate(note) as at_gate:
        process = await asyncio.create_subprocess_exec(
            *at_gate.held(launch.argv, environ),
            cwd=folder,
            env=environ,
            pass_fds=launch.descriptors,
            stdin=at_gate.closed,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        at_gate.open(process.pid, environ)
    return process


async def _ended_within(process: _Process, limit: TimeLimit) -> bool:
    try:
        async with limit.within():
            await process.wait()
    except TimeoutError:
        return False
    return True


async def _terminate(process: _Process, *, wrapped: bool) -> None:
    """End the process, with a moment to clean up. A sandbox that ended first would kill the command at
    once."""
    if wrapped:
        await asyncio.to_thread(signal_others, process.pid, signal.SIGTERM)
    else:
        _signal(process.pid, signal.SIGTERM)
    if not await _ended_within(process, TimeLimit(TERM_GRACE)):
        _signal(process.pid, signal.SIGKILL)
        await process.wait()


async def _end_rest(group: int, mark: str) -> bool:
    """Kill the remaining processes of a command. Returns whether there were any.

    A zombie keeps its group alive, so without /proc this may be true although nothing was left.
    """
    try:
        strays = await asyncio.to_thread(end_strays, group, mark) if can_find_strays() else None
    finally:
        group_was_left = _signal(group, signal.SIGKILL)
    return group_was_left if strays is None else strays > 0


def _signal(group: int, number: signal.Signals) -> bool:
    """Send a signal to the process group; False if it is empty."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False
