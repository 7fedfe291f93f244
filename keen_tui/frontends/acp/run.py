"""Serves an editor on standard input and output until the editor or a signal ends the program."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, cast

from acp.agent.connection import AgentSideConnection

from keen_tui.domain.errors import ConfigError
from keen_tui.frontends.acp.agent import KeenAgent
from keen_tui.frontends.acp.pipes import LONGEST_MESSAGE, PipeTransport
from keen_tui.frontends.shared.editor_port import EditorWork

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_END_SECONDS: Final = 10.0
"""Seconds that requests have to finish, once all sessions are closed."""


def run_acp(work: EditorWork) -> None:
    """Serve the editor. Sessions are closed and saved at the end.

    Raises:
        ConfigError: standard input or output isn't a pipe.
    """
    if sys.stdin.isatty():
        raise ConfigError(
            "An editor starts keen-tui acp and talks to it in the Agent Client Protocol. "
            "In a terminal start keen-tui."
        )
    if not (_is_pipe(0) and _is_pipe(1)):
        raise ConfigError(
            "keen-tui acp needs pipes as standard input and output, as an editor provides them."
        )
    with _protocol_streams() as (incoming, outgoing):
        asyncio.run(_serve(work, incoming, outgoing))


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def _protocol_streams() -> Iterator[tuple[int, int]]:
    """The descriptors of the editor's pipes. Nothing else uses them: standard input becomes empty, and
    printed text goes to standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    yield incoming, outgoing  # the transports close them


async def _serve(work: EditorWork, incoming: int, outgoing: int) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, over.set)
    transport = await _opened(incoming, outgoing)
    agent = KeenAgent(work, transport)
    connection = AgentSideConnection(cast(Any, agent), transport, listening=False, use_unstable_protocol=True)
    listening = asyncio.create_task(connection.listen(), name="editor")
    ending = asyncio.create_task(over.wait())
    try:
        await asyncio.wait({listening, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await agent.close()
        listening.cancel()
        ending.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        with suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(connection.close(), _END_SECONDS)


async def _opened(incoming: int, outgoing: int) -> PipeTransport:
    """The pipes as a transport."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_MESSAGE)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", buffering=0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", buffering=0)
    )
    return PipeTransport(reader, asyncio.StreamWriter(transport, protocol, reader, loop))
