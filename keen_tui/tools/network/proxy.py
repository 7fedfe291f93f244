"""The proxy between commands and the network: CONNECT, and plain HTTP with one request per connection.

No part of a request's head is passed on unchanged: h11 parses it and writes a new one. The proxy resolves the
name itself, and connects to the address that it checked.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from base64 import b64encode
from collections.abc import Iterable
from contextlib import suppress
from hmac import compare_digest
from typing import Final
from urllib.parse import urlsplit

import h11
from msgspec import Struct

from keen_tui.text.hosts import Host, NotAHost, host_name
from keen_tui.tools.network.addresses import CHUNK, Internet, Streams
from keen_tui.tools.network.gate import HostGate
from keen_tui.tools.network.reaching import NotReached, reached
from keen_tui.tools.network.socket_handover import USER

log = logging.getLogger(__name__)

HEAD_SECONDS: Final = 20.0
"""Seconds that a client may take for the head of its request."""
_MOST_HEAD: Final = 32_768
MOST_CONNECTIONS: Final = 128
_MOST_SHOWN: Final = 80

_HOP_BY_HOP: Final = frozenset(
    b"connection proxy-connection proxy-authorization proxy-authenticate keep-alive te upgrade trailer via "
    b"forwarded".split()
)

Headers = Iterable[tuple[bytes, bytes]]
HttpEvent = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]
"""The events that h11 returns."""


class Refused(Exception):
    """A request that isn't passed on: the status of the answer, and the reason as a sentence without a full
    stop."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Wanted(Struct, frozen=True, kw_only=True):
    """The destination of a request. `path` is for plain HTTP, "" for a tunnel."""

    host: Host
    path: str = ""


class Proxy:
    """Serves the connections of one command. `gate` admits hosts, `internet` has their addresses. With a
    `password` it serves only who knows that: other commands of the session can reach it too."""

    def __init__(
        self, gate: HostGate, internet: Internet, head_seconds: float = HEAD_SECONDS, password: str = ""
    ) -> None:
        self._gate = gate
        self._internet = internet
        self._head_seconds = head_seconds
        self._signed = b"Basic " + b64encode(f"{USER}:{password}".encode()) if password else b""
        self._room = asyncio.Semaphore(MOST_CONNECTIONS)
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Serve connections until this is cancelled; then close all of them."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._room.acquire()
                client, _ = await loop.sock_accept(listener)
                task = asyncio.create_task(self._one(client))
                self._tasks.add(task)
                task.add_done_callback(self._done)
        finally:
            listener.close()
            await asyncio.sleep(0)  # a task that never started would leave its connection open
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.release()
        if not task.cancelled() and (error := task.exception()):
            log.error("a connection of a command failed unexpectedly", exc_info=error)

    async def _one(self, client: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=client, limit=CHUNK)
        try:
            await self._answered(reader, writer)
        except (OSError, h11.ProtocolError, asyncio.IncompleteReadError):
            pass  # one end is closed, so close the other
        finally:
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ours = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_HEAD)
        try:
            request = await self._head(ours, reader)
            self._require_own_command(request)
            wanted = self._wanted(request)
            upstream = await self._connected(wanted.host)
        except Refused as refused:
            await _refuse(writer, refused)
            return
        try:
            if wanted.path:
                await _pass_on(ours, (reader, writer), upstream, _rewritten(request, wanted))
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                upstream[1].write(ours.trailing_data[0])
                await _tunnel((reader, writer), upstream)
        finally:
            upstream[1].close()

    async def _head(self, ours: h11.Connection, reader: asyncio.StreamReader) -> h11.Request:
        """The head of the request. Raises Refused if it is invalid, too long, or too slow."""
        try:
            async with asyncio.timeout(self._head_seconds):
                event = await _next_event(ours, reader)
        except h11.RemoteProtocolError as error:
            raise Refused(error.error_status_hint, "the request can't be understood") from error
        except TimeoutError as error:
            raise Refused(408, "the request took too long") from error
        if not isinstance(event, h11.Request):
            raise ConnectionResetError
        return event

    def _require_own_command(self, request: h11.Request) -> None:
        """Raises Refused if another command may have sent the request."""
        given = dict(request.headers).get(b"proxy-authorization", b"")
        if self._signed and not compare_digest(given, self._signed):
            raise Refused(407, "this proxy is for one command, which knows its password")

    def _wanted(self, request: h11.Request) -> _Wanted:
        """The destination of the request. Raises Refused if it names no host."""
        try:
            return _wanted(request)
        except NotAHost as error:
            self._gate.note(request.target.decode("ascii", "replace")[:_MOST_SHOWN], str(error))
            raise Refused(403, str(error)) from error

    async def _connected(self, host: Host) -> Streams:
        """A connection to a checked address. Raises Refused."""
        if problem := await self._gate.admit(host):
            raise self._refusal(host, 403, problem)
        try:
            streams = await reached(host, self._internet)
        except NotReached as error:
            raise self._refusal(host, 403 if error.is_refused else 502, str(error)) from error
        self._gate.note(str(host))
        return streams

    def _refusal(self, host: Host, status: int, problem: str) -> Refused:
        self._gate.note(str(host), problem)
        return Refused(status, f"{host}: {problem}")


def _wanted(request: h11.Request) -> _Wanted:
    """The destination of the request. Raises Refused if it has none, NotAHost if it isn't a name."""
    target = request.target.decode("ascii", "replace")
    names = {name for name, _ in request.headers}
    try:
        if request.method == b"CONNECT":
            if names & {b"content-length", b"transfer-encoding"}:
                raise Refused(400, "a CONNECT has no content")
            name, _, port = target.rpartition(":")
            return _Wanted(host=Host(host_name(name), _port(port)))
        parts = urlsplit(target)
        if parts.scheme != "http" or "@" in parts.netloc or not parts.hostname:
            raise Refused(400, "a request to a proxy names the whole http:// address, or is a CONNECT")
        host = Host(host_name(parts.netloc if parts.netloc[0] == "[" else parts.hostname), parts.port or 80)
        _require_same_host(request, host)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return _Wanted(host=host, path=path)
    except NotAHost:
        raise
    except ValueError as error:
        raise Refused(400, "the address can't be understood") from error


def _port(text: str) -> int:
    """The port. Raises ValueError if it isn't one."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65_536:
        raise ValueError(text)
    return int(text)


def _require_same_host(request: h11.Request, host: Host) -> None:
    """Raises Refused if the header Host names another host than the address: servers read the header."""
    for name, value in request.headers:
        if name == b"host":
            said = urlsplit(f"//{value.decode('ascii', 'replace')}")
            if (said.hostname or "").removesuffix(".") != host.name or (said.port or 80) != host.port:
                raise Refused(400, "the header Host and the address name two hosts")


def _rewritten(request: h11.Request, wanted: _Wanted) -> h11.Request:
    """The request for the server: with the path alone, and a connection that ends with the answer."""
    authority = wanted.host.name if wanted.host.port == 80 else f"{wanted.host.name}:{wanted.host.port}"
    headers = [each for each in _end_to_end(request.headers.raw_items()) if each[0].lower() != b"host"]
    return h11.Request(
        method=request.method,
        target=wanted.path,
        headers=[(b"Host", authority.encode()), *headers, (b"Connection", b"close")],
    )


def _end_to_end(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers without those for a single connection."""
    headers = list(headers)
    said = (value for name, value in headers if name.lower() == b"connection")
    left_out = _HOP_BY_HOP.union(each.strip().lower() for value in said for each in value.split(b","))
    return [(name, value) for name, value in headers if name.lower() not in left_out]


async def _pass_on(ours: h11.Connection, client: Streams, upstream: Streams, request: h11.Request) -> None:
    """Pass on one request and its answer."""
    theirs = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
    upstream[1].write(theirs.send(request) or b"")
    sending = asyncio.create_task(_copied(ours, client[0], theirs, upstream[1]))
    try:
        await _answer(theirs, upstream[0], ours, client[1])
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _copied(
    source: h11.Connection, reader: asyncio.StreamReader, target: h11.Connection, writer: asyncio.StreamWriter
) -> None:
    """Copy the content after a head to its end, without anything that belongs to a single connection."""
    while isinstance(event := await _next_event(source, reader), h11.Data):
        await _send(target, writer, h11.Data(data=event.data))
    if isinstance(event, h11.EndOfMessage):
        await _send(target, writer, h11.EndOfMessage())


async def _answer(
    theirs: h11.Connection, reader: asyncio.StreamReader, ours: h11.Connection, writer: asyncio.StreamWriter
) -> None:
    while isinstance(event := await _next_event(theirs, reader), h11.InformationalResponse):
        await _send(ours, writer, h11.InformationalResponse(status_code=event.status_code, headers=[]))
    if isinstance(event, h11.Response):
        headers = _end_to_end(event.headers.raw_items())
        headers = [each for each in headers if each[0].lower() != b"transfer-encoding"]
        again = h11.Response(
            status_code=event.status_code,
            reason=event.reason,
            headers=[*headers, (b"Connection", b"close")],
        )
        await _send(ours, writer, again)
        await _copied(theirs, reader, ours, writer)


async def _next_event(connection: h11.Connection, reader: asyncio.StreamReader) -> HttpEvent:
    """The next event on a connection; reads until it is whole."""
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(CHUNK))
    return event


async def _send(connection: h11.Connection, writer: asyncio.StreamWriter, event: h11.Event) -> None:
    writer.write(connection.send(event) or b"")
    await writer.drain()


async def _tunnel(client: Streams, upstream: Streams) -> None:
    """Copy both directions, each to its end."""
    async with asyncio.TaskGroup() as directions:
        directions.create_task(_pumped(client[0], upstream[1]))
        directions.create_task(_pumped(upstream[0], client[1]))


async def _pumped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.write_eof()


async def _refuse(writer: asyncio.StreamWriter, refused: Refused) -> None:
    """Answer with the reason, in the status line too: many programs show only that."""
    body = f"Keen: {refused}.\n".encode()
    reason = str(refused).encode("ascii", "replace")[:200]
    head = h11.Connection(h11.SERVER)
    answer = h11.Response(
        status_code=refused.status,
        reason=b"Keen: " + reason,
        headers=[
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", str(len(body)).encode()),
            (b"Connection", b"close"),
            *([(b"Proxy-Authenticate", b'Basic realm="Keen"')] if refused.status == 407 else ()),
        ],
    )
    writer.write((head.send(answer) or b"") + body)
    await writer.drain()
