"""Servers on this machine that stand for hosts on the Internet, and a proxy that leads to them."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager

from keen_tui.system.time_limit import TimeLimit
from keen_tui.text.hosts import Host
from keen_tui.tools.network.addresses import Internet, Streams, connected, is_public
from keen_tui.tools.network.gate import HostAnswer, HostGate
from keen_tui.tools.network.proxy import Proxy
from keen_tui.tools.sandbox.base import ORDINARY, Argv, Launch, Terms
from tests.support.jail import FakeSandbox
from tests.support.waiting import LIMIT

ELSEWHERE = "127.0.0.2"
"""An address of this machine that is never the source of connections; it stands for one on the Internet."""

_STARTER = """\
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
channel = socket.socket(fileno=int(sys.argv[1]))
socket.send_fds(channel, [b"x"], [listener.fileno()])
os.environ["http_proxy"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
os.environ["https_proxy"] = os.environ["http_proxy"]
listener.close(), channel.close()
os.execvp(sys.argv[2], sys.argv[2:])
"""


class NoWalls(FakeSandbox):
    """A sandbox that confines nothing, but passes out a listener like one with its own network. `runs` are
    the terms of the commands so far."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.has_own_network = True
        self.runs: list[Terms] = []

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        self.runs.append(terms)
        if terms.listener_to is None:
            yield Launch(argv=argv, environ=environ)
            return
        starter = (sys.executable, "-I", "-S", "-c", _STARTER, str(terms.listener_to))
        yield Launch(argv=(*starter, *argv), environ=environ, descriptors=(terms.listener_to,))


class Names:
    """Names and their addresses; `asked` are the names that were looked up. Connections to port 80 go to
    `port`."""

    def __init__(self, addresses: Mapping[str, Sequence[str]], port: int = 80) -> None:
        self.addresses = dict(addresses)
        self.port = port
        self.asked: list[str] = []

    async def resolve(self, name: str, port: int) -> Sequence[str]:
        self.asked.append(name)
        if name not in self.addresses:
            raise OSError("no such name")
        return self.addresses[name]

    async def connect(self, address: str, port: int) -> Streams:
        return await connected(address, self.port if port == 80 else port)

    @property
    def internet(self) -> Internet:
        """Real public addresses, and those that stand for some."""
        return Internet(
            resolve=self.resolve,
            is_open=lambda address: address == ELSEWHERE or is_public(address),
            connect=self.connect,
        )


class Server:
    """Answers each connection with `answer`; `heads` are the received requests."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") -> None:
        self.answer = answer
        self.heads: list[bytes] = []
        self.port = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.answer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Server]:
        server = await asyncio.start_server(self._serve, ELSEWHERE, 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self


class Line:
    """A proxy with a gate. `wanted` are the hosts that it asked about, `reports` its reports."""

    def __init__(
        self,
        names: Names,
        allowed: Sequence[str],
        *,
        head_seconds: float = LIMIT,
        internet: Internet | None = None,
    ) -> None:
        self.wanted: list[str] = []
        self.reports: list[tuple[str, str]] = []
        self.names = names
        self.port = 0
        self._allowed = allowed
        self._gate = HostGate(TimeLimit(None))
        self._gate.decides(self._decide, lambda host, problem: self.reports.append((host, problem)))
        self._proxy = Proxy(self._gate, internet or names.internet, head_seconds)

    async def _decide(self, hosts: Sequence[Host]) -> HostAnswer:
        self.wanted += map(str, hosts)
        is_allowed = all(host.name in self._allowed for host in hosts)
        return HostAnswer(allowed=is_allowed, reason="" if is_allowed else "no rule allows it")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Line]:
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        listener.setblocking(False)
        self.port = listener.getsockname()[1]
        serving = asyncio.create_task(self._proxy.serve(listener))
        try:
            yield self
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await self._gate.close()

    async def says(self, request: bytes, more: bytes = b"") -> bytes:
        """The answer to these bytes, up to the end of the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            await writer.drain()
            if more:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LIMIT)
                writer.write(more)
                return head + await asyncio.wait_for(reader.read(), LIMIT)
            return await asyncio.wait_for(reader.read(), LIMIT)
        finally:
            writer.close()
