"""The requests that `keen-tui serve` answers: its pages, and the websocket of each page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Final

from aiohttp import WSCloseCode, web
from msgspec import Struct

from keen_tui.domain.errors import KeenError
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.subcommands.serve.access import COOKIE, Browser, ServeAccess
from keen_tui.subcommands.serve.client import ClientProgram
from keen_tui.subcommands.serve.relay import relay
from keen_tui.system.paths import data_folder
from keen_tui.system.presence import present_in

_log = logging.getLogger(__name__)

PAGE: Final = Path(__file__).with_name("page")
TEXTUAL: Final = Path(str(files("textual_serve"))) / "static"
"""textual-serve's terminal for browsers: a script, styles and fonts."""

_LARGEST_MESSAGE: Final = 16_000_000
"""The most bytes of one message from a page, such as a paste."""
_DOOR_SCRIPT: Final = "/door.js"
_BEAT: Final = 15.0
"""Seconds between two websocket pings; a page that doesn't answer is gone."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ServeOptions(Struct, frozen=True, kw_only=True):
    """What is served, and within which limits: the flags of each program, how many clients at once, after how
    many seconds without use a program ends, and the session that the first page continues ("": a new one)."""

    arguments: Sequence[str]
    clients: int
    idle_seconds: float
    folder: Path
    first_session: str = ""


class Site:
    """Answers the requests of browsers."""

    def __init__(self, access: ServeAccess, options: ServeOptions, environ: Mapping[str, str]) -> None:
        self._access = access
        self._options = options
        self._environ = environ
        self._sockets: set[web.WebSocketResponse] = set()
        self._working = 0
        self._ending = 0
        self._first_session = options.first_session

    def app(self) -> web.Application:
        """The application for aiohttp."""
        app = web.Application(middlewares=[self._guard])
        place = self._access.place
        app.add_routes(
            [
                web.get("/", self._enter),
                web.get(_DOOR_SCRIPT, self._door_script),
                web.get(place, self._page),
                web.get(f"{place}ws", self._client),
                web.static(f"{place}static", TEXTUAL),
                web.static(f"{place}page", PAGE),
            ]
        )
        app.on_shutdown.append(self._close_all)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer only requests that name this server and come from a browser that showed the token."""
        is_socket = request.path == f"{self._access.place}ws"
        if not self._access.is_for_us(request.headers):
            return _refused("This server doesn't answer to that host name.")
        if not self._access.is_own_page(request.headers, needs_origin=is_socket):
            return _refused("Only pages of this server may ask for this.")
        if request.path not in ("/", _DOOR_SCRIPT) and self._browser(request) is None:
            return _refused("Open the whole address that keen-tui serve printed, with its token.")
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = error
        if not response.prepared:
            response.headers.update(_headers(request.host))
        if isinstance(response, web.HTTPException):
            raise response
        return response

    def _browser(self, request: web.Request) -> Browser | None:
        return self._access.browser(request.cookies.get(COOKIE, ""))

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        """Exchange the token in the address for a cookie, and redirect to the page. Without the token, a
        script leads browsers that showed it earlier to the page."""
        browser = self._access.enter(request.query.get("token", ""))
        if browser is None:
            return web.FileResponse(PAGE / "door.html", status=403)
        place = self._access.place
        response = web.Response(status=303, headers={"Location": place})
        response.set_cookie(COOKIE, browser.secret, path=place, httponly=True, samesite="Strict")
        return response

    async def _door_script(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "door.js")

    async def _page(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "page.html")

    def _full(self) -> str:
        """Why no further page may be opened, "" if one may. Programs that are ending don't count."""
        most = self._options.clients
        if self._working - self._ending < most:
            return ""
        return f"Keen serves {most} {'page' if most == 1 else 'pages'} at once. Close one, then reload."

    async def _client(self, request: web.Request) -> web.StreamResponse:
        browser = self._browser(request)
        assert browser is not None, "the guard lets nobody else in"
        if full := self._full():
            return await _closed(request, full)
        self._working += 1
        try:
            return await self._served(request, browser)
        finally:
            self._working -= 1

    async def _served(self, request: web.Request, browser: Browser) -> web.WebSocketResponse:
        """Run a program for that page until the page or the program ends."""
        socket = web.WebSocketResponse(heartbeat=_BEAT, max_msg_size=_LARGEST_MESSAGE)
        await socket.prepare(request)
        self._sockets.add(socket)
        reason = "The program can't be started."
        try:
            if browser.leaving:  # a page that was reloaded resumes its session, once that is saved
                await asyncio.wait(browser.leaving)
            size = _size(request, "width", 80), _size(request, "height", 24)
            program = await ClientProgram.start(self._arguments(browser), self._environ, *size)
            try:
                reason = await relay(socket, program, self._options.idle_seconds)
            finally:
                leaving = asyncio.ensure_future(self._leave(browser, program))
                browser.leaving.add(leaving)
                leaving.add_done_callback(browser.leaving.discard)
                await asyncio.shield(leaving)
        except OSError:
            _log.exception("a program for a browser can't be started")
        finally:
            self._sockets.discard(socket)
            await socket.close(message=reason.encode())
        return socket

    def _arguments(self, browser: Browser) -> Sequence[str]:
        """The flags of the next program: the session that this browser left last, if there is one; for the
        first page the session that was asked for."""
        while browser.left:
            session = browser.left.pop()
            with suppress(KeenError, OSError):
                store = SessionStore(data_folder(self._environ))
                store.path_of(session)
                if not store.is_in_use(session):
                    return (*self._options.arguments, f"--resume={session}")
        session, self._first_session = self._first_session, ""
        return (*self._options.arguments, *([f"--resume={session}"] if session else []))

    async def _leave(self, browser: Browser, program: ClientProgram) -> None:
        """End the program. If it hadn't ended on its own, the browser can come back to its session."""
        working = [
            each.session
            for each in present_in(self._environ, self._options.folder)
            if each.pid == program.process.pid and each.session
        ]
        self._ending += 1
        try:
            await program.end()
        finally:
            self._ending -= 1
        browser.left.extend(working)

    async def _close_all(self, _: web.Application) -> None:
        for socket in tuple(self._sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"keen-tui serve has ended.")


def _size(request: web.Request, name: str, otherwise: int) -> int:
    written = request.query.get(name, "")
    return int(written) if written.isdecimal() and len(written) < 5 else otherwise


async def _closed(request: web.Request, reason: str) -> web.WebSocketResponse:
    """A websocket that says only why there is no program."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=reason.encode())
    return socket


def _refused(text: str) -> web.Response:
    return web.Response(status=403, text=f"{text}\n")


def _headers(host: str) -> Mapping[str, str]:
    """Headers with which a page loads nothing from other servers and can't be embedded in other pages."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        f"img-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
