"""The address on this machine to which a browser returns from a sign-in."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Thread
from typing import Any, Final
from urllib.parse import parse_qsl

from keen_tui.domain.errors import SessionRefused

_HOST: Final = "127.0.0.1"
_PATH: Final = "/callback"

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
        self._answer: Future[Mapping[str, str]] = Future()

    async def __aenter__(self) -> Loopback:
        self._server = _Server((_HOST, self.port), partial(_Visit, self))
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._answer.cancel()
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()

    async def answer(self) -> Mapping[str, str]:
        """Wait for the browser; returns the fields that the authorization server sent back, by name."""
        return await asyncio.wrap_future(self._answer)

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
        self.end(self.checked(host_on.partition("?")[2]))

    def checked(self, query: str) -> Mapping[str, str]:
        """The fields of an address of this sign-in; raises SessionRefused for those of any other."""
        sent = dict(parse_qsl(query.partition("#")[0], keep_blank_values=True))
        if not self.state or not secrets.compare_digest(sent.get("state", "").encode(), self.state.encode()):
            raise SessionRefused("That address belongs to another sign-in.")
        if not sent.get("code") and "error" not in sent:
            raise SessionRefused("That address is incomplete. Copy all of it.")
        return sent

    def end(self, sent: Mapping[str, str]) -> None:
        """The browser came back with these fields. What it sends later changes nothing."""
        with suppress(InvalidStateError):
            self._answer.set_result(sent)


class _Server(ThreadingTCPServer):
    """Not HTTPServer, which asks the name service for the name of its own address."""

    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing is written to the terminal, for example if the browser ends the connection."""


class _Visit(BaseHTTPRequestHandler):
    """One request of a browser."""

    timeout = 10.0
    """How many seconds a browser may pause while it sends its request."""

    def __init__(self, loopback: Loopback, *connection: Any) -> None:
        self._loopback = loopback
        super().__init__(*connection)

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path != _PATH:
            self._show(404, "There is nothing here.")
            return
        try:
            sent = self._loopback.checked(query)
        except SessionRefused:
            self._show(400, _NOT_MEANT)
            return
        self._show(200, f"The sign-in was refused. {_BACK}" if "error" in sent else f"Signed in. {_BACK}")
        self._loopback.end(sent)  # after the page: the program may end as soon as it knows

    def send_error(self, *_: object) -> None:
        """Answers requests that http.server refuses: another method, something too long, or no HTTP."""
        self._show(404, "There is nothing here.")

    def log_message(self, *_: object) -> None:
        """Nothing is written to the terminal."""

    def _show(self, status: int, text: str) -> None:
        body = _PAGE.format(text=text).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
