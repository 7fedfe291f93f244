"""A server on loopback that answers each GET with a page of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Page:
    """An answer. A body that isn't text is sent as JSON."""

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class PageServer:
    """Its address, and its requests: target and headers (names in lower case)."""

    url: str
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@asynccontextmanager
async def serving(pages: Mapping[str, Page] | None) -> AsyncIterator[PageServer]:
    """Serve the pages by their target, query included; others are 404. None: never answer."""
    server = PageServer("")

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            target = first.split(" ")[1]
            pairs = (line.partition(":") for line in lines)
            server.asked.append((target, {name.lower(): value.strip() for name, _, value in pairs}))
            if pages is None:
                await reader.read()
            else:
                writer.write(_answer(pages.get(target, Page("", 404))))
                await writer.drain()
        except ConnectionError:
            pass  # the client closed the connection
        finally:
            writer.close()

    listening = await asyncio.start_server(converse, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()


def _answer(page: Page) -> bytes:
    body = (page.body if isinstance(page.body, str) else json.dumps(page.body)).encode()
    headers = {"content-length": str(len(body)), "connection": "close", **page.headers}
    lines = [f"HTTP/1.1 {page.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body
