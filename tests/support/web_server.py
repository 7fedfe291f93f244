"""A web server on this machine that stands for hosts on the Internet, and answers as a test says."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from msgspec.structs import replace

from keen_tui.tools.network.addresses import Internet, Streams, connected
from keen_tui.tools.web.fetching import Fetcher
from keen_tui.tools.web.limits import FetchLimits
from tests.support.networks import ELSEWHERE, Names

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer of its own."""

HOST = "pages.example"


def answer(
    body: bytes = b"", type: str = "text/plain; charset=utf-8", *, status: str = "200 OK", **headers: str
) -> bytes:
    """A whole answer. The names of headers are written with `_`."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", f"Content-Type: {type}" if type else ""]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(filter(None, lines)).encode() + b"\r\n\r\n" + body


def redirect(location: str) -> bytes:
    """An answer that leads elsewhere."""
    return answer(status="302 Found", Location=location)


async def never_done(writer: asyncio.StreamWriter) -> None:
    """Answers nothing but that it is at work, until the other end closes the connection."""
    while not writer.transport.is_closing():
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


class WebServer:
    """Answers by path. `asked` are the heads of all requests, `names` lead to it (`HOST`, and those that a
    test adds)."""

    def __init__(self, pages: Mapping[str, bytes | Answering]) -> None:
        self.pages = dict(pages)
        self.asked: list[bytes] = []
        self.written = 0
        self.names = Names({HOST: [ELSEWHERE]})
        self.open = 0

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for."""
        return [head.split(b" ")[1].decode() for head in self.asked]

    @property
    def internet(self) -> Internet:
        """The Internet with this server in it, at every port."""

        async def connect(address: str, port: int) -> Streams:
            return await connected(address, self.names.port)

        return replace(self.names.internet, connect=connect)

    def fetcher(self, limits: FetchLimits = FetchLimits()) -> Fetcher:  # noqa: B008 - frozen
        """What fetches from here, within these limits."""
        return Fetcher(self.internet, limits)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked.append(head)
                path = self.paths[-1]
                known = self.pages.get(path) or self.pages.get(path.partition("?")[0])
                page = known or answer(status="404 Not Found")
                if isinstance(page, bytes):
                    writer.write(page)
                    await writer.drain()
                else:
                    await page(writer)
                    return
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self.open -= 1
            writer.close()

    @asynccontextmanager
    async def running(self, certificate: ssl.SSLContext | None = None) -> AsyncIterator[WebServer]:
        server = await asyncio.start_server(self._serve, ELSEWHERE, 0, ssl=certificate)
        self.names.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self
