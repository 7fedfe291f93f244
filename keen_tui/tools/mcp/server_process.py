"""Runs a server's program with the allowed part of the environment, watches it like a command, and ends it
with everything that it started."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ServerFailed
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program
from keen_tui.tools.orphans.guard import guard
from keen_tui.tools.orphans.start_gate import held_at_input
from keen_tui.tools.orphans.strays import MARK, can_find_strays, end_strays, mark_for_good, signal_others
from keen_tui.tools.sandbox.base import Launch, in_thread
from keen_tui.tools.sandbox.probe import SandboxFinder

LONGEST_MESSAGE: Final = 16_000_000
"""Bytes of the longest line that a server may write."""

END_GRACE: Final = 0.5
"""Seconds in which a server must end after its input is closed."""

TERM_GRACE: Final = 0.5
"""Seconds between SIGTERM and SIGKILL."""

_LOOK: Final = 0.02

_DOWNLOADERS: Final[Mapping[str, tuple[str, ...]]] = {
    "npx": (), "pnpx": (), "bunx": (), "uvx": (), "npm": ("exec", "x"), "pnpm": ("dlx",), "yarn": ("dlx",),
    "bun": ("x",), "uv": ("run", "tool"), "pipx": ("run",), "docker": ("run",), "podman": ("run",),
}  # fmt: skip
"""Programs that download what they start, with their commands that do so; (): always."""


@asynccontextmanager
async def server_process(
    server: McpServer, root: Path, sandbox: SandboxFinder, environ: Mapping[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The running program of the server. On leaving, its input is closed, and what still runs is killed.

    Raises:
        ServerFailed: it can't be started; the text says why.
    """
    folder = _folder(server, root)
    given = {**child_environment(environ), **server.env}
    argv = (_program(server.command, folder, given), *server.args)
    async with await _launching(argv, given, server, sandbox) as launch:
        if launch.confine:
            raise ServerFailed(
                "the sandbox here can only run commands; install bubblewrap, or set sandbox = false"
            )
        mark = secrets.token_hex(8)
        watching = guard().command(mark, " ".join((server.command, *server.args)))
        async with in_thread(watching) as watched:
            process = await _started(launch, folder, mark)
            try:
                watched.started(process.pid)
                mark_for_good(process.pid, mark)
                if process.stdin:
                    process.stdin.write(b"\n")
                yield process
            finally:
                await _to_the_end(process, mark, wrapped=launch.wrapped)


def downloader(server: McpServer) -> str:
    """The name of the package manager that starts the server and may have to download it first; "" for
    none."""
    name = Path(server.command).name
    commands = _DOWNLOADERS.get(name)
    first = next((word for word in server.args if not word.startswith("-")), "")
    return name if commands == () or first in (commands or ()) else ""


def _folder(server: McpServer, root: Path) -> Path:
    return root / Path(server.cwd).expanduser() if server.cwd else root


def _program(command: str, folder: Path, environ: Mapping[str, str]) -> str:
    """The absolute path of the program. A bare name is never found in the workspace. Raises ServerFailed."""
    if not command:
        raise ServerFailed("no command is configured")
    if "/" in command:
        return os.path.normpath(folder / Path(command).expanduser())
    if found := find_program(command, environ):
        return found
    raise ServerFailed(
        f"the program {command} isn't on your PATH outside the workspace; install it, or give its path"
    )


async def _launching(
    argv: tuple[str, ...], environ: Mapping[str, str], server: McpServer, finder: SandboxFinder
) -> AbstractAsyncContextManager[Launch]:
    if not server.sandbox:
        return nullcontext(Launch(argv=argv, environ=environ))
    found = await finder.found()
    if found.sandbox is None:
        raise ServerFailed(
            f"its settings require the sandbox, and {found.reason or 'the sandbox is turned off'}"
        )
    return in_thread(found.sandbox.wrap(argv, environ))


async def _started(launch: Launch, folder: Path, mark: str) -> asyncio.subprocess.Process:
    environ = {**launch.environ, MARK: mark}
    try:
        return await asyncio.create_subprocess_exec(
            *held_at_input(launch.argv, environ),
            cwd=folder,
            env=environ,
            pass_fds=launch.descriptors,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=LONGEST_MESSAGE,
        )
    except (OSError, ValueError) as error:
        raise ServerFailed(f"it can't be started in {folder}: {error}") from error


async def _to_the_end(process: asyncio.subprocess.Process, mark: str, *, wrapped: bool) -> None:
    """End the process even if the caller is cancelled."""
    ending = asyncio.create_task(_ended(process, mark, wrapped=wrapped))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await asyncio.wait({ending})
        raise


async def _ended(process: asyncio.subprocess.Process, mark: str, *, wrapped: bool) -> None:
    """Close its input; if that isn't enough, kill it with everything that it started."""
    drained = asyncio.gather(_drain(process.stdout), _drain(process.stderr), return_exceptions=True)
    if process.stdin:
        process.stdin.close()
    if not await _gone_within(process, END_GRACE):
        if wrapped:
            await asyncio.to_thread(signal_others, process.pid, signal.SIGTERM)
        else:
            _signal(process.pid, signal.SIGTERM)
        await _gone_within(process, TERM_GRACE)
    if can_find_strays():
        await asyncio.to_thread(end_strays, process.pid, mark)
    _signal(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(END_GRACE):
            await drained
            await process.wait()


async def _drain(stream: asyncio.StreamReader | None) -> None:
    """Read the rest, so that a program that is still writing can end."""
    with suppress(OSError, RuntimeError, ValueError):
        while stream and await stream.read(65_536):
            pass


async def _gone_within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether it ends in that time. Doesn't wait for its pipes, which other processes may hold longer."""
    for _ in range(round(seconds / _LOOK)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(_LOOK)
    return process.returncode is not None


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
