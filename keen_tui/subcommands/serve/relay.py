"""Passes data between a page and its program, in the protocol of textual-serve: bytes to the page, JSON lists
from it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import WSMsgType, web

from keen_tui.subcommands.serve.client import ClientProgram


class UseLimit:
    """A timeout that begins anew with each use: `timeout` expires after this many seconds without one."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.timeout = asyncio.timeout(seconds)

    def used(self) -> None:
        """Begin the time anew."""
        if not self.timeout.expired():
            self.timeout.reschedule(asyncio.get_running_loop().time() + self._seconds)


async def relay(socket: web.WebSocketResponse, program: ClientProgram, idle_seconds: float) -> str:
    """Pass data on until one side ends, or both are idle for so many seconds. Returns a sentence about why it
    ended, "" if the page was left."""
    limit = UseLimit(idle_seconds)
    try:
        async with limit.timeout:
            return await _first(_from_program(socket, program, limit), _from_page(socket, program, limit))
    except TimeoutError:
        return "Nothing was typed for a long time, so the program was ended. Everything is saved."


async def _first(*ways: Any) -> str:
    """The result of the coroutine that ends first; the other is cancelled."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return "".join(task.result() for task in done)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _from_program(socket: web.WebSocketResponse, program: ClientProgram, limit: UseLimit) -> str:
    while data := await program.output():
        limit.used()
        try:
            await socket.send_bytes(data)
        except ConnectionError:
            return ""
    return "The program has ended."


async def _from_page(socket: web.WebSocketResponse, program: ClientProgram, limit: UseLimit) -> str:
    async for message in socket:
        if message.type != WSMsgType.TEXT:
            continue
        kind, value = _parts(message.data)
        if kind == "stdin" and isinstance(value, str):
            limit.used()
            await program.send(value.encode("utf-8", "replace"))
        elif kind == "resize" and isinstance(value, dict):
            width, height = value.get("width"), value.get("height")
            if isinstance(width, int) and isinstance(height, int):
                program.resize(width, height)
        elif kind == "ping":
            await socket.send_json(["pong", value])
    return ""


def _parts(text: str) -> tuple[object, object]:
    """The kind and the value of a message; None and None if it isn't one. A message about the focus is
    ignored: the terminal in the page reports the focus to the program itself."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(said, list) or not 1 <= len(said) <= 2:
        return None, None
    return said[0], said[1] if len(said) == 2 else None
