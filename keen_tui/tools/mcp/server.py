"""One server from its start to its end: the connection, one restart if the server dies, and its lists."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from keen_tui.domain.errors import ServerFailed, ServerGone, SignInNeeded
from keen_tui.domain.servers import ServerState
from keen_tui.settings.added.mcp_json import changed_script
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.text.sanitize import clean
from keen_tui.tools.mcp.elicitation import Asking
from keen_tui.tools.mcp.link import AuthFactory, OnProgress, ServerIdentity, ServerLink
from keen_tui.tools.mcp.log_tail import LogTail
from keen_tui.tools.mcp.server_process import downloader
from keen_tui.tools.sandbox.probe import SandboxFinder

log = logging.getLogger(__name__)

NOT_INSTALLED: Final = "the package mcp isn't installed: install Keen with its extra mcp"

MOST_TOOLS: Final = 500
"""Keen uses at most this many tools of a server."""

DOWNLOAD_SECONDS: Final = 300.0
"""Seconds that the start may take if a package manager may have to download the server first."""

_STOP_SECONDS: Final = 5.0
_END_SECONDS: Final = 1.0
_RESTARTS: Final = 1
_LIST_PAUSE: Final = 0.5

_Signal = Literal["stop", "gone", "lists"]
_Answer = TypeVar("_Answer")


class ServerNeeds(Struct, frozen=True, kw_only=True):
    """The objects that servers need: the workspace, the sandbox, and the maker of request signatures."""

    root: Path
    sandbox: SandboxFinder
    auth: AuthFactory | None = None


class ServerCall(Struct, frozen=True, eq=False):
    """A running call: `asking` takes the server's questions, `hears` its log messages. The protocol doesn't
    say which call they belong to, so the newest call gets them."""

    asking: Asking
    hears: Callable[[str], None]


class ServerConnection:
    """A server and the connection to it. It calls `changed` when its state or its lists have changed, and
    `tell` with a sentence for the user, and `tell_over` with one that no longer holds."""

    def __init__(
        self,
        server: McpServer,
        around: ServerNeeds,
        changed: Callable[[], None],
        tell: Callable[[str], None],
        tell_over: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.server = server
        self.state: ServerState = "stopped"
        self.reason = ""
        self.log = LogTail()
        self.identity: ServerIdentity | None = None
        self.tools: tuple[Mapping[str, Any], ...] = ()
        self.prompts: tuple[Mapping[str, Any], ...] = ()
        self.calls: list[ServerCall] = []
        """The running calls, newest last."""
        self._around = around
        self._changed = changed
        self._tell_user = tell
        self._tell_over = tell_over
        self._told = ""
        """The newest sentence for the user about the state of the server, "" for none."""
        self._link: ServerLink | None = None
        self._signals: asyncio.Queue[_Signal] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._downloader = downloader(server)
        self._late: asyncio.TimerHandle | None = None
        """Notes that the start takes longer than usual."""
        self._why_gone = ""
        self._restarts_left = 0
        self._has_been_ready = False
        self._knows_why = False
        self._is_listing = False

    def start(self) -> None:
        """Start it in the background, unless it is running."""
        if self._task and not self._task.done():
            return
        self._set("starting")
        self._task = asyncio.create_task(self._keep(), name=f"MCP server {self.server.name}")

    async def stop(self) -> None:
        """End it. Waits until its program has ended."""
        task, self._task = self._task, None
        if task and not task.done():
            self._link, self._why_gone, self._restarts_left = None, "", 0
            self._signals.put_nowait("stop")
            if self.state == "starting" or self._is_listing:
                task.cancel()
            await asyncio.wait({task}, timeout=_STOP_SECONDS)
            task.cancel()
            await asyncio.wait({task})
        self._set("stopped")

    async def restart(self) -> None:
        """End it and start it again."""
        await self.stop()
        self.start()

    async def settled(self) -> None:
        """Wait until the start has succeeded or failed."""
        await self._settled.wait()

    async def call(self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Call a tool; returns its result. Waits while the server is starting.

        Raises:
            ServerFailed: it failed; the text is the end of a sentence. ServerGone: the server died meanwhile.
        """
        return await self._asked(lambda link: link.call(tool, arguments, on_progress))

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        """A prompt with its arguments filled in. Waits and raises like `call`."""
        return await self._asked(lambda link: link.prompt(name, arguments))

    async def resources(self) -> list[dict[str, Any]]:
        """All resources that the server lists now. Waits and raises like `call`."""
        return await self._asked(lambda link: link.resources())

    @property
    def may_list_resources(self) -> bool:
        """Whether it has resources, or may have some as it is still starting."""
        has_some = self.identity is not None and self.identity.has_resources
        return self.state == "starting" or (self.state == "ready" and has_some)

    async def resource(self, uri: str) -> dict[str, Any]:
        """The content of a resource. Waits and raises like `call`."""
        return await self._asked(lambda link: link.resource(uri))

    async def link(self) -> ServerLink:
        """The open connection. Waits while the server is starting. Raises ServerFailed."""
        await self._settled.wait()
        if self._link is None:
            is_closed = "the user has to sign in first" if self.state == "sign-in" else f"it is {self.state}"
            raise ServerFailed(self.reason or is_closed)
        return self._link

    async def _asked(self, ask: Callable[[ServerLink], Awaitable[_Answer]]) -> _Answer:
        link = await self.link()
        try:
            return await ask(link)
        except ServerGone as error:
            if link is self._link:
                self._note_gone(str(error))
            raise

    def is_on(self, signals: object) -> bool:
        """Whether `signals` belong to the newest connection."""
        return signals is self._signals

    # The task that keeps the connection.

    async def _keep(self) -> None:
        """Connect, and connect once more if the server dies later."""
        self._restarts_left = _RESTARTS
        while True:
            was_ready = False
            try:
                await self._serve()
                if not self._why_gone:
                    return
                was_ready = True
            except SignInNeeded as error:
                name, why = self.server.name, f": {error}" if str(error) else ""
                self._set("sign-in", str(error))
                self._tell(
                    f"The MCP server {name} needs a sign-in{why}. Sign in with /mcp login {name}, or with "
                    f"keen-tui mcp login {name} in a shell."
                )
                return
            except ServerFailed as error:
                was_ready = self._has_been_ready
                self._why_gone = self._why_gone or str(error)
            except TimeoutError:
                self._why_gone = f"it wasn't ready after {self._start_seconds:g} seconds"
            except Exception as error:
                log.error("MCP server %s", self.server.name, exc_info=error)
                self._why_gone = f"{type(error).__name__}: {error}"
            finally:
                self._link = None
            if was_ready and self._restarts_left:
                self._restarts_left -= 1
                self._set("starting", self._why_gone)
                words = "stopped working and is being restarted"
                self._tell(clean(f"The MCP server {self.server.name} {words}: {self._why_gone}."))
                continue
            ended = "stopped working again and stays off" if was_ready else "can't be used"
            self._set("failed", self._why_gone)
            self._tell(clean(f"The MCP server {self.server.name} {ended}: {self._why_gone}."))
            return

    async def _serve(self) -> None:
        """Connect, and stay connected until `stop` or until the server dies; `_why_gone` is the reason
        then."""
        self._signals, self._why_gone = asyncio.Queue(), ""
        self._has_been_ready = self._knows_why = False
        await asyncio.to_thread(_require_unchanged, self.server, self._around.root)
        opener = await asyncio.to_thread(_sdk)
        around, ears = self._around, _Hearing(self, self._signals)
        if self._downloader:
            loop = asyncio.get_running_loop()
            self._late = loop.call_later(self.server.startup_timeout, self._note_download)
        async with (
            asyncio.timeout(self._start_seconds) as limit,
            opener(self.server, around.root, around.sandbox, ears, around.auth) as link,
        ):
            self.identity = link.identity
            await self._list(link)
            limit.reschedule(None)
            self._link, self._has_been_ready = link, True
            self._set("ready")
            listening = asyncio.create_task(link.changes(self._note_lists))
            try:
                await self._until_end(link)
            finally:
                listening.cancel()
                await asyncio.wait({listening})

    @property
    def _start_seconds(self) -> float:
        """Seconds that the start may take."""
        own = self.server.startup_timeout
        return max(own, DOWNLOAD_SECONDS) if self._downloader else own

    def _note_download(self) -> None:
        wait = f"Keen waits up to {DOWNLOAD_SECONDS:g} seconds"
        words = f"{self._downloader} may still be downloading it, so {wait}"
        self._set("starting", words)
        self._tell(clean(f"The MCP server {self.server.name} isn't ready yet: {words}."))

    async def _until_end(self, link: ServerLink) -> None:
        while (signal := await self._signals.get()) == "lists":
            while not self._signals.empty() and signal == "lists":
                signal = self._signals.get_nowait()
            if signal != "lists":
                break
            await self._list_again(link)
        if signal == "gone" and self.server.transport == "stdio" and not self._knows_why:
            with suppress(TimeoutError):  # the program's own end gives a better reason
                await asyncio.wait_for(self._signals.get(), _END_SECONDS)

    async def _list_again(self, link: ServerLink) -> None:
        """Ask for the lists again. The pause slows down servers that report changes all the time."""
        self._is_listing = True
        try:
            with suppress(ServerFailed, TimeoutError):
                async with asyncio.timeout(self.server.startup_timeout):
                    await self._list(link)
                self._changed()
            await asyncio.sleep(_LIST_PAUSE)
        finally:
            self._is_listing = False

    async def _list(self, link: ServerLink) -> None:
        identity = link.identity
        tools = await link.tools() if identity.has_tools else []
        self.tools = tuple(sorted(tools, key=lambda tool: str(tool.get("name", "")))[:MOST_TOOLS])
        if identity.has_prompts:
            with suppress(ServerFailed):
                self.prompts = tuple(await link.prompts())

    def _note_lists(self) -> None:
        self._signals.put_nowait("lists")

    def note_end(self, reason: str) -> None:
        """The server's program ended."""
        last = f" ({self.log.last})" if self.log.last else ""
        self._note_gone(f"{reason}{last}", is_better=True)

    def _note_gone(self, reason: str, *, is_better: bool = False) -> None:
        """Drop the connection, which is gone. `is_better`: this reason replaces an earlier one."""
        if is_better or not self._why_gone:
            self._why_gone = reason
        self._knows_why |= is_better
        if self._link:
            self._link = None
            self._set("starting" if self._restarts_left else "failed", self._why_gone)
        self._signals.put_nowait("gone")

    def _tell(self, sentence: str) -> None:
        """Tell the user about the state. Whatever was said about it before no longer holds."""
        self._withdraw()
        self._told = sentence
        self._tell_user(sentence)

    def _withdraw(self) -> None:
        if self._told:
            self._tell_over(self._told)
            self._told = ""

    def _set(self, state: ServerState, reason: str = "") -> None:
        self.state, self.reason = state, reason
        if state in ("ready", "stopped"):
            self._withdraw()
        if state == "starting":
            self._settled.clear()
        else:
            self._settled.set()
            if self._late:
                self._late.cancel()
        self._changed()


class _Hearing:
    """The `Ears` of one connection, with the signals of that connection."""

    def __init__(self, connection: ServerConnection, signals: asyncio.Queue[_Signal]) -> None:
        self._connection = connection
        self._signals = signals

    def log(self, text: str, *, is_message: bool = False) -> None:
        self._connection.log.add(text)
        if is_message and self._connection.calls:
            self._connection.calls[-1].hears(text)

    def lists_changed(self) -> None:
        self._signals.put_nowait("lists")

    def ended(self, reason: str) -> None:
        if self._connection.is_on(self._signals):
            self._connection.note_end(reason)

    async def ask(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._connection.calls:
            return {"action": "decline"}
        *others, newest = self._connection.calls
        with ExitStack() as waiting:
            for call in others:  # the server may need the answer for these calls, too
                waiting.enter_context(call.asking.limit.standing())
            return await newest.asking.ask(asked)


def _require_unchanged(server: McpServer, folder: Path) -> None:
    """Raises ServerFailed if a script of a project's server has changed since the user agreed: the model may
    have changed it, and it would run outside the sandbox."""
    if changed := changed_script(server, folder):
        name = clean(os.path.relpath(changed, folder))
        raise ServerFailed(f"{name} has changed since you agreed to it. Keen asks again at its next start")


def _sdk() -> Any:
    """The function that opens connections. Imports the SDK, which takes a second. Raises ServerFailed if the
    SDK isn't installed."""
    try:
        return importlib.import_module("keen_tui.tools.mcp.sdk_link").open_link
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("keen_tui"):
            raise
        raise ServerFailed(NOT_INSTALLED) from error
