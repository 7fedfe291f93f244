"""Connects httpcore to checked addresses only, with one lookup of a name for each connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any

from httpcore2 import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream, ReadError, WriteError

from keen_tui.text.hosts import Host
from keen_tui.tools.network.addresses import Internet
from keen_tui.tools.network.reaching import reached


class CheckedNetwork(AsyncNetworkBackend):
    """Connects like the proxy of commands. `NotReached` passes through httpcore as it is."""

    def __init__(self, internet: Internet) -> None:
        self._internet = internet

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to a checked address of the host. Raises NotReached."""
        return _Connection(*await reached(Host(host, port), self._internet))


class _Connection(AsyncNetworkStream):
    """A connection of asyncio as httpcore wants it. It has no time limits: the fetch as a whole has one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return await self._reader.read(max_bytes)
        except OSError as error:
            raise ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self._writer.write(buffer)
            await self._writer.drain()
        except OSError as error:
            raise WriteError(str(error)) from error

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._writer.get_extra_info(info)
