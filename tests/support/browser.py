"""A real browser without a window: Chromium, driven over its debugging protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pyte
import pytest

from tests.support.waiting import until

_NAMES = ("chromium", "chromium-browser", "google-chrome")

_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][0-9;]*[a-zA-Z$]+")
_SIZE = re.compile(r"width=(\d+)&height=(\d+)")


class BrowserPage:
    """A page of the browser. `requested` are the addresses that it asked for, `problems` what its console
    says is wrong."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self.requested: list[str] = []
        self.problems: list[str] = []
        self._screen = pyte.Screen(1, 1)
        self._stream = pyte.ByteStream(self._screen)
        self._reading = asyncio.ensure_future(self._read())

    async def close(self) -> None:
        self._reading.cancel()
        await self._socket.close()

    async def call(self, method: str, **params: object) -> Any:
        self._number += 1
        number = self._number
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        return await self._answers[number]

    async def go(self, address: str) -> None:
        await self.call("Page.navigate", url=address)

    async def evaluate(self, script: str) -> Any:
        found = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        return found.get("result", {}).get("value")

    async def press(self, key: str, code: int, *, ctrl: bool = False, alt: bool = False) -> None:
        """Press a key; `code` is its Windows virtual key code."""
        held = (2 if ctrl else 0) + (1 if alt else 0)
        named = {"key": key, "windowsVirtualKeyCode": code, "modifiers": held}
        text = {"text": key} if len(key) == 1 and not held else {"text": "\r"} if key == "Enter" else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    async def type(self, text: str) -> None:
        await self.call("Input.insertText", text=text)

    @property
    def columns(self) -> int:
        """The width of the terminal in the page."""
        return self._screen.columns

    def screen(self) -> str:
        """What the terminal in the page was last given to draw, row by row."""
        return "\n".join(row.rstrip() for row in self._screen.display)

    async def wait_for(self, *words: str) -> None:
        """Wait until all of these words are on the screen."""
        await until(lambda: all(each in self.screen() for each in words), says=lambda: self.screen())

    async def picture(self, file: Path) -> bytes:
        """A picture of the page, written to that file."""
        data = base64.b64decode((await self.call("Page.captureScreenshot"))["data"])
        file.write_bytes(data)
        return data

    async def _read(self) -> None:
        async for message in self._socket:
            said = json.loads(message.data)
            if answer := self._answers.pop(said.get("id"), None):
                answer.set_result(said.get("result", {}))
            elif said.get("method") == "Network.requestWillBeSent":
                self.requested.append(said["params"]["request"]["url"])
            elif said.get("method") == "Network.webSocketCreated":
                self.requested.append(said["params"]["url"])
                if size := _SIZE.search(said["params"]["url"]):
                    self._screen = pyte.Screen(int(size[1]), int(size[2]))
                    self._stream = pyte.ByteStream(self._screen)
            elif said.get("method") == "Network.webSocketFrameReceived":
                frame = said["params"]["response"]
                if frame["opcode"] == 2:
                    data = base64.b64decode(frame["payloadData"])
                    self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
            elif said.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(said["params"])[:500])
            elif said.get("method") == "Page.javascriptDialogOpening":
                await self._socket.send_json(
                    {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                )


@asynccontextmanager
async def browser_page(profile: Path, environ: Mapping[str, str] = os.environ) -> AsyncIterator[BrowserPage]:
    """An empty page of a new browser; the test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    process = await asyncio.create_subprocess_exec(
        program,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-dev-shm-usage",
        "--window-size=1200,800",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "about:blank",
        env={**environ, "HOME": str(profile)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    port = profile / "DevToolsActivePort"
    try:
        await until(lambda: port.exists() and port.read_text().count("\n"))
        address = f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json/list"
        async with aiohttp.ClientSession() as client:
            async with client.get(address) as answer:
                pages = [each for each in await answer.json() if each["type"] == "page"]
            async with client.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = BrowserPage(socket)
                for domain in ("Page", "Network", "Runtime", "Log"):
                    await page.call(f"{domain}.enable")
                try:
                    yield page
                finally:
                    await page.close()
    finally:
        process.terminate()
        await process.wait()
