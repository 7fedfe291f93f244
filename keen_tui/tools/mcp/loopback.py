"""The address on this machine to which a browser returns from a sign-in."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import h11

from keen_tui.domain.errors import SessionRefused

_HOST: Final = "127.0.0.1"
_PATH: Final = "/callback"
_SECONDS: Final = 10.0
"""How long a browser may take to send its request."""
_MOST_BYTES: Final = 64_000

_PAGE: Final = """<!doctype html>
<meta charset="utf-8"><title>Keen</title>
<body style="font: 1.2em/1.5 system-ui, sans-serif; margin: 4em auto; max-width: 30em">
<p>{text}</p>
"""
_BACK: Final = "You can close this page and go back to Keen."
_NOT_MEANT: Final = "This page belongs to a sign-in that isn't running any more."


class Loopback:
    """Waits for the browser. It ignores requests without the state of the sign-in, as any page can send one.
    Use it as a context manager; `port` is known inside.

    Args:
        port: the port to use, 0 for any. Entering raises OSError if another program uses it.
    """

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.state = ""
        """The random text that the authorization server must send back; "" until the sign-in page is
        known."""
        self._answer: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Loopback:
        self._server = await asyncio.start_server(self._begin, _HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for task in self._tasks:
            task.cancel()
        self._answer.cancel()

    async def answer(self) -> Mapping[str, str]:
        """Wait for the browser; returns the fields that the authorization server sent back, by name."""
        return await asyncio.shield(self._answer)

    def take(self, address: str) -> None:
        """Take the address of the page that the browser came back to, as the user pasted it.

        Raises:
            SessionRefused: this sign-in waits for another address. Call it again with that one.
        """
        begin = f"{_HOST}:{self.port}{_PATH}"
        written = address.strip()
        host_on = written.removeprefix("http://")  # some browsers leave this out when they copy an address
        if not host_on.startswith(f"{begin}?"):
            raise SessionRefused(f"The address must begin with http://{begin}.")
        self._take_query(host_on.partition("?")[2])

    def _take_query(self, query: str) -> None:
        sent = dict(parse_qsl(query.partition("#")[0], keep_blank_values=True))
        if not self.state or not secrets.compare_digest(sent.get("state", "").encode(), self.state.encode()):
            raise SessionRefused("That address belongs to another sign-in.")
        if not sent.get("code") and "error" not in sent:
            raise SessionRefused("That address is incomplete. Copy all of it.")
        if not self._answer.done():
            self._answer.set_result(sent)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._reply(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_BYTES)
        try:
            async with asyncio.timeout(_SECONDS):
                request = await _request(connection, reader)
                status, text = self._judged(request)
                for chunk in _response(connection, status, text):
                    writer.write(chunk)
                await writer.drain()
        except (TimeoutError, OSError, ValueError, h11.ProtocolError):
            pass  # a browser doesn't send that
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _judged(self, request: h11.Request) -> tuple[int, str]:
        target = urlsplit(request.target.decode("ascii", "replace"))
        if request.method != b"GET" or target.path != _PATH:
            return 404, "There is nothing here."
        try:
            self._take_query(target.query)
        except SessionRefused:
            return 400, _NOT_MEANT
        sent = self._answer.result()
        return (200, f"The sign-in was refused. {_BACK}") if "error" in sent else (200, f"Signed in. {_BACK}")


async def _request(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request:
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            return event
        if event is not h11.NEED_DATA:
            raise h11.RemoteProtocolError("no request")
        connection.receive_data(await reader.read(_MOST_BYTES))


def _response(connection: h11.Connection, status: int, text: str) -> list[bytes]:
    body = _PAGE.format(text=text).encode()
    headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-length", str(len(body))),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("connection", "close"),
    ]
    events: tuple[Callable[[], h11.Event], ...] = (
        lambda: h11.Response(status_code=status, headers=headers),
        lambda: h11.Data(data=body),
        h11.EndOfMessage,
    )
    return [connection.send(event()) or b"" for event in events]
