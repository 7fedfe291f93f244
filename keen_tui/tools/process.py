"""A shell command in a process group of its own, that ends when it should and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

DRAIN_SECONDS = 0.2
"""How long output is still read after the shell has ended, when something else holds the pipe."""

TERM_GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""

_CHUNK = 65_536
_KEPT_VARIABLES = frozenset(
    """
    HOME USER LOGNAME SHELL PATH TMPDIR TZ LANG LANGUAGE VIRTUAL_ENV CONDA_PREFIX PYTHONPATH NODE_PATH
    GOPATH GOROOT CARGO_HOME RUSTUP_HOME JAVA_HOME PYENV_ROOT NVM_DIR XDG_CACHE_HOME XDG_CONFIG_HOME
    XDG_DATA_HOME XDG_RUNTIME_DIR SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NO_COLOR
    """.split()  # noqa: SIM905 - a list of 26 quoted names is no easier to read
)
_SET_VARIABLES = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "DEBIAN_FRONTEND": "noninteractive",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `code` is 124 for a time-out and 128+N for death by signal N.

    `left_running` tells that processes of its group were still there and were ended with it.
    """

    code: int
    timed_out: bool = False
    left_running: bool = False


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of commands: an allow-list, so that no key or token gets in, and no pager or prompt."""
    kept = {
        name: value for name, value in environ.items() if name in _KEPT_VARIABLES or name.startswith("LC_")
    }
    return kept | _SET_VARIABLES


async def run_command(
    argv: tuple[str, ...],
    *,
    folder: Path,
    environ: Mapping[str, str],
    timeout: float,
    on_output: Callable[[bytes], None],
) -> Ended:
    """Run it to its end; stdout and stderr come to `on_output` in order of arrival.

    It ends with the command's own process: what it left in the background is ended with it, and a pipe
    that such a process holds is not waited for. Cancelling kills the whole group.

    Raises:
        OSError: it can't be started.
    """
    with _pipe(on_output) as (writable, drained):
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=folder,
                env=dict(environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writable,
                stderr=writable,
                start_new_session=True,
            )
        finally:
            os.close(writable)
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                await process.wait()
        except TimeoutError:
            timed_out = True
            await _terminate(process)
        finally:
            left_running = _signal(process.pid, signal.SIGKILL)
            await process.wait()
        await asyncio.wait({drained}, timeout=DRAIN_SECONDS)
    code = process.returncode if process.returncode is not None else -signal.SIGKILL
    return Ended(124 if timed_out else code if code >= 0 else 128 - code, timed_out, left_running)


async def _terminate(process: asyncio.subprocess.Process) -> None:
    _signal(process.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(TERM_GRACE):
            await process.wait()
    _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, number: signal.Signals) -> bool:
    """Send a signal to the process group; False when nobody is left in it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@contextmanager
def _pipe(on_output: Callable[[bytes], None]) -> Iterator[tuple[int, asyncio.Future[None]]]:
    """A pipe that is read by the event loop; gives its writable end and a future for its end of file."""
    loop = asyncio.get_running_loop()
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    drained: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        try:
            chunk = os.read(readable, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            on_output(chunk)
        elif not drained.done():
            drained.set_result(None)
            loop.remove_reader(readable)

    loop.add_reader(readable, read)
    try:
        yield writable, drained
    finally:
        loop.remove_reader(readable)
        os.close(readable)
