"""JSON-RPC messages, one a line, on two pipes. A line that isn't a message gets an error response; the
connection goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

LONGEST_MESSAGE: Final = 50_000_000
"""The most bytes of a message that is read. Messages contain images."""

_OPTIONAL: Final = "$/"
"""The prefix of notifications that may be ignored."""

_OF_IDS: Final = (str, int, type(None))
_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600


class PipeTransport:
    """A transport for the SDK.

    Args:
        reader: reads the editor's lines. Its limit is `LONGEST_MESSAGE`.
        writer: writes Keen's lines.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()
        self._after_reply: dict[asyncio.Task[Any] | None, Callable[[], Awaitable[None]]] = {}

    def after_reply(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action right after the response to the request that the current task answers."""
        self._after_reply[asyncio.current_task()] = action

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. Raises ConnectionError if the editor has gone."""
        line = json.dumps(message, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
        async with self._writing:
            if self._writer.is_closing():
                raise ConnectionError("the editor has gone")
            self._writer.write(line)
            await self._writer.drain()
        if "method" not in message and (action := self._after_reply.pop(asyncio.current_task(), None)):
            await action()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None once the editor has closed the pipe."""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as rest:
                line = rest.partial
                if not line.strip():
                    return None
            except asyncio.LimitOverrunError:
                await self._skip_line()
                await self._refuse(_INVALID_REQUEST, f"The message is longer than {LONGEST_MESSAGE:,} bytes.")
                continue
            except ConnectionError:
                return None
            if line.strip() and (message := await self._message(line)) is not None:
                return message

    async def close(self) -> None:
        """Close the pipe to the editor."""
        self._writer.close()

    async def _message(self, line: bytes) -> dict[str, Any] | None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(_PARSE_ERROR, "The line isn't JSON. Write one message of JSON-RPC to a line.")
            return None
        if not isinstance(message, dict):
            await self._refuse(_INVALID_REQUEST, "The message isn't a JSON object. Batches aren't supported.")
            return None
        method = message.get("method", "")
        if isinstance(method, str) and method.startswith(_OPTIONAL) and "id" not in message:
            return None
        if not isinstance(method, str):
            await self._refuse(_INVALID_REQUEST, "The method must be a string.", message.get("id"))
            return None
        if "method" in message and type(message.get("id")) not in _OF_IDS:
            await self._refuse(_INVALID_REQUEST, "The id must be a string or a whole number.")
            return None
        return message if "method" in message else _with_one_outcome(message)

    async def _refuse(self, code: int, sentence: str, id: Any = None) -> None:
        error = {"code": code, "message": sentence}
        with suppress(ConnectionError):
            await self.send({"jsonrpc": "2.0", "id": id, "error": error})

    async def _skip_line(self) -> None:
        """Read to the end of a line that is too long."""
        while True:
            try:
                await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as overrun:
                await self._reader.readexactly(overrun.consumed)
            except asyncio.IncompleteReadError:
                return
            else:
                return


def _with_one_outcome(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as the SDK can read it: an error has the form of one, and no result beside it counts."""
    error = reply.get("error")
    if error is None:
        return reply
    if not isinstance(error, dict):
        error = {"code": _INVALID_REQUEST, "message": f"an error that isn't an object: {error!r:.80}"}
    return {name: value for name, value in reply.items() if name != "result"} | {"error": error}
