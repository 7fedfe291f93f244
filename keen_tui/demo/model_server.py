"""A model server on loopback that answers from a script, over the real wire protocol.

The demo and the tests talk to it through the real SDK:

    async with ModelServer([Reply([Say("hello")])]) as server:
        ...  # a client of server.base_url
    server.requests[0].body["messages"]
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any, Literal, Self

from keen_tui.demo.script import (
    Answer,
    Break,
    HttpAnswer,
    NoAnswer,
    RawStream,
    RecordedRequest,
    Reply,
    WireEvent,
    break_offset,
)
from keen_tui.demo.wires import WIRES

Script = Sequence[Answer] | Callable[[RecordedRequest], Answer]
_NO_LINGER = struct.pack("ii", 1, 0)


class ModelServer:
    """Answers each POST with the next answer of the script, and GET /v1/models with `models`.

    A sequence that is used up answers 500 and says so. `requests` holds every request that took an answer
    (or would have), in order of arrival; `open_streams` is the number of requests being answered now,
    `abandoned` the number whose client went away before its answer was sent.
    """

    def __init__(self, script: Script, *, models: Sequence[str] = ("scripted",), port: int = 0) -> None:
        self.requests: list[RecordedRequest] = []
        self.open_streams = 0
        self.abandoned = 0
        self._next_answer = script if callable(script) else _read_out(script)
        self._models = models
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL, in every API."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> None:
        """Listen on loopback; `base_url` holds from here on, also after `stop` and a new `start`."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and break off whatever is still being answered."""
        if self._server is None:
            return
        self._server.close()
        self.break_off()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    def break_off(self) -> None:
        """Close every connection, whatever is being answered there."""
        for connection in self._connections:
            connection.cancel()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def wait_for_requests(self, count: int, *, seconds: float = 180.0) -> None:
        """Until `count` requests have come in. Raises TimeoutError after `seconds`."""
        await self._wait(lambda: len(self.requests) >= count, seconds)

    async def wait_until_idle(self, *, seconds: float = 180.0) -> None:
        """Until nothing is being answered, for example since the client went away. Raises TimeoutError."""
        await self._wait(lambda: self.open_streams == 0, seconds)

    async def _wait(self, reached: Callable[[], bool], seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while not reached():
                await self._changed.wait()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request, one answer."""
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._converse(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, path, headers = await _read_head(reader)
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        wire = _Wire(writer)
        if method == "GET" and path.partition("?")[0] == "/v1/models":
            models = [{"id": name, "object": "model"} for name in self._models]
            await wire.answer(HttpAnswer(200, {"object": "list", "data": models}))
            return
        request = RecordedRequest(path, headers, _json_object(raw), raw)
        self.requests.append(request)
        async with self._counted_until_gone(reader):
            await self._answer(request, len(self.requests), wire)

    @asynccontextmanager
    async def _counted_until_gone(self, reader: asyncio.StreamReader) -> AsyncIterator[None]:
        """Counts the answer as open, and breaks it off as soon as the client closes the connection."""
        answering = asyncio.current_task()
        assert answering is not None

        def break_off(_: asyncio.Task[None]) -> None:
            self.abandoned += 1
            answering.cancel()

        client_left = asyncio.create_task(_until_closed(reader))
        client_left.add_done_callback(break_off)
        self.open_streams += 1
        self._notify()
        try:
            yield
        finally:
            client_left.remove_done_callback(break_off)
            client_left.cancel()
            self.open_streams -= 1
            self._notify()

    async def _answer(self, request: RecordedRequest, number: int, wire: _Wire) -> None:
        match self._choose(request):
            case HttpAnswer() as answer:
                await asyncio.sleep(answer.wait)
                await wire.answer(answer)
            case NoAnswer(how):
                await wire.break_off(how)
            case RawStream() as stream:
                pieces = [WireEvent(piece, "delta") for piece in _pieces(stream.body, stream.piece)]
                await wire.stream(pieces, stream.pace, stream.broken)
            case Reply() as reply:
                await asyncio.sleep(reply.wait)
                events = WIRES[request.path].encode(reply, request.body, number)
                await wire.stream(events, reply.pace, reply.broken)

    def _choose(self, request: RecordedRequest) -> Answer:
        if request.path not in WIRES:
            return _error(404, f"the scripted model server has no {request.path}")
        try:
            return self._next_answer(request)
        except Exception as error:
            return _error(500, f"request {len(self.requests)}: {error or type(error).__name__}")


class _Wire:
    """The sending side of one connection. Every write is on its way before the next begins."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        writer.transport.set_write_buffer_limits(0)

    async def answer(self, answer: HttpAnswer) -> None:
        is_json = not isinstance(answer.body, str)
        body = json.dumps(answer.body).encode() if is_json else str(answer.body).encode()
        content_type = "application/json" if is_json else "text/html; charset=utf-8"
        headers = {"content-type": content_type, "content-length": str(len(body))} | dict(answer.headers)
        await self._head(answer.status, headers)
        await self._send(body)

    async def stream(self, events: Sequence[WireEvent], pace: float, broken: Break | None) -> None:
        """Send the events as chunks, `pace` seconds apart, up to the place where the stream breaks."""
        await self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        left = None if broken is None else break_offset(events, broken)
        for event in events:
            data = event.data if left is None else event.data[:left]
            if data:
                await self._send(b"%x\r\n%b\r\n" % (len(data), data))
            if left is not None:
                left -= len(data)
                if not left:
                    break
            if pace:
                await asyncio.sleep(pace)
        if broken is None or broken.how == "end":
            await self._send(b"0\r\n\r\n")
        else:
            await self.break_off(broken.how)

    async def break_off(self, how: Literal["reset", "close", "stall"]) -> None:
        """Say no more. A plain close is left to the end of the connection."""
        if how == "stall":
            await asyncio.Event().wait()
        if how == "reset":
            plug: socket.socket = self._writer.get_extra_info("socket")
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._writer.transport.abort()

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += ["connection: close", "", ""]
        await self._send("\r\n".join(lines).encode())

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def _read_out(script: Sequence[Answer]) -> Callable[[RecordedRequest], Answer]:
    answers = iter(tuple(script))

    def next_answer(_: RecordedRequest) -> Answer:
        for answer in answers:
            return answer
        raise RuntimeError(f"the script is used up: it has {len(script)} answers")

    return next_answer


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with suppress(OSError):
        await reader.read()


def _error(status: int, message: str) -> HttpAnswer:
    return HttpAnswer(status, {"error": {"message": message, "type": "scripted"}})


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in rest)
    return method, path, {name.strip().lower(): value.strip() for name, _, value in pairs}


def _json_object(raw: bytes) -> dict[str, Any]:
    """The body as a dict; empty when there is none."""
    parsed = json.loads(raw) if raw else {}
    return parsed if isinstance(parsed, dict) else {}


def _pieces(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
