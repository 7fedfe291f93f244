"""An open connection to a server, through the official SDK. Imported in a thread when the first server
starts: importing the SDK takes a second."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp.client._transport import TransportStreams
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from keen_tui import __version__
from keen_tui.domain.errors import ServerFailed, ServerGone, SignInNeeded
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.mcp.link import AuthFactory, Ears, OnProgress, ServerIdentity
from keen_tui.tools.mcp.server_process import LONGEST_MESSAGE, server_process
from keen_tui.tools.sandbox.probe import SandboxFinder

_MOST_PAGES: Final = 50
_CONNECT_SECONDS: Final = 30.0
_PAUSES: Final = (1.0, 5.0, 30.0, 120.0)
"""Seconds to wait before listening for changes again, after the first break, the second, and so on."""
_TERMINATED: Final = "Session terminated"
"""The SDK's error if the server has forgotten the session, for example because it was restarted."""


class SdkLink:
    """An open connection. All results are plain JSON values. Methods raise ServerFailed with the end of a
    sentence, and ServerGone if the connection has ended."""

    def __init__(self, client: Client, server: McpServer) -> None:
        self._client = client
        self._server = server

    @property
    def identity(self) -> ServerIdentity:
        """The server's description of itself."""
        info, offers = self._client.server_info, self._client.server_capabilities
        return ServerIdentity(
            name=info.name if info else "",
            version=info.version if info else "",
            protocol=self._client.protocol_version,
            has_tools=offers.tools is not None,
            has_prompts=offers.prompts is not None,
            has_resources=offers.resources is not None,
            instructions=self._client.instructions or "",
        )

    async def tools(self) -> list[dict[str, Any]]:
        """All tools that the server offers now."""
        return await self._all(
            lambda cursor: self._client.list_tools(cursor=cursor, cache_mode="refresh"), "tools"
        )

    async def prompts(self) -> list[dict[str, Any]]:
        """All prompts that the server offers now."""
        return await self._all(
            lambda cursor: self._client.list_prompts(cursor=cursor, cache_mode="refresh"), "prompts"
        )

    async def resources(self) -> list[dict[str, Any]]:
        """All resources that the server lists now."""
        return await self._all(
            lambda cursor: self._client.list_resources(cursor=cursor, cache_mode="refresh"), "resources"
        )

    async def call(self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Call a tool; returns its result. If this is cancelled, the server is told."""

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message or "")

        with _told_errors():
            result = await self._client.call_tool(tool, dict(arguments), progress_callback=hear)
        return _plain(result)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        """A prompt with its arguments filled in."""
        with _told_errors():
            return _plain(await self._client.get_prompt(name, dict(arguments)))

    async def resource(self, uri: str) -> dict[str, Any]:
        """The content of a resource."""
        with _told_errors():
            return _plain(await self._client.read_resource(uri))

    async def changes(self, tell: Callable[[], None]) -> None:
        """Listen for changed lists in the stream of servers of 2026-07-28, until cancelled. If the stream
        breaks, listen again; nothing is replayed, so every list may have changed meanwhile. Returns at once
        for older servers, which send notifications, and for servers without such a stream.
        """
        clock, pauses, was_open = asyncio.get_running_loop().time, iter(_PAUSES), False
        while True:
            began = clock()
            with suppress(Exception):
                async with self._client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as changes:
                    if was_open:
                        tell()
                    was_open = True
                    async for _ in changes:
                        tell()
            if not was_open:
                return
            if clock() - began > _PAUSES[-1]:
                pauses = iter(_PAUSES)
            answers = False
            while not answers:
                await asyncio.sleep(next(pauses, _PAUSES[-1]))
                answers = await _answers(self._server)

    async def _all(self, page: Callable[[str | None], Awaitable[Any]], name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        with _told_errors():
            for _ in range(_MOST_PAGES):
                listed = await page(cursor)
                found += map(_plain, getattr(listed, name))
                cursor = listed.next_cursor
                if not cursor:
                    break
        return found


@asynccontextmanager
async def open_link(
    server: McpServer, root: Path, sandbox: SandboxFinder, ears: Ears, auth: AuthFactory | None
) -> AsyncIterator[SdkLink]:
    """Connect to the server. Leave the context in the task that entered it.

    Raises:
        ServerFailed: it failed; the text is the end of a sentence. SignInNeeded: the server wants a
            sign-in.
    """
    refusals: list[int] = []
    try:
        async with _client(server, root, sandbox, ears, auth, refusals) as client:
            yield SdkLink(client, server)
    except (Exception, BaseExceptionGroup) as error:
        found = first_error(error)
        if refusals and not isinstance(found, SignInNeeded):
            raise SignInNeeded from error
        raise _failure(found) from error


def _client(
    server: McpServer,
    root: Path,
    sandbox: SandboxFinder,
    ears: Ears,
    auth: AuthFactory | None,
    refusals: list[int],
) -> Client:
    async def asked(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        answer = await ears.ask(_plain(params))
        return types.ElicitResult.model_validate(answer)

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        folder = types.Root.model_validate({"uri": root.as_uri(), "name": root.name or "/"})
        return types.ListRootsResult(roots=[folder])

    async def logged(params: types.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else str(params.data)
        ears.log(f"{params.level}: {text}", is_message=True)

    async def heard(message: IncomingMessage) -> None:
        match message:
            case (
                types.ToolListChangedNotification()
                | types.PromptListChangedNotification()
                | types.ResourceListChangedNotification()
            ):
                ears.lists_changed()
            case Exception():
                ears.log(f"unreadable message: {message}")
            case _:
                pass

    return Client(
        _transport(server, root, sandbox, ears, auth, refusals),
        mode="legacy" if server.transport == "sse" else "auto",
        client_info=types.Implementation(name="keen-tui", version=__version__),
        elicitation_callback=asked,
        list_roots_callback=roots,
        logging_callback=logged,
        log_level="info",
        message_handler=heard,
        cache=None,
    )


def _transport(
    server: McpServer,
    root: Path,
    sandbox: SandboxFinder,
    ears: Ears,
    auth: AuthFactory | None,
    refusals: list[int],
) -> AbstractAsyncContextManager[TransportStreams]:
    if server.transport == "stdio":
        return _stdio(server, root, sandbox, ears)
    return _http(server, auth, refusals)


@asynccontextmanager
async def _stdio(
    server: McpServer, root: Path, sandbox: SandboxFinder, ears: Ears
) -> AsyncIterator[TransportStreams]:
    async with server_process(server, root, sandbox, os.environ) as process:
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        from_session, to_server = _reversed(anyio.create_memory_object_stream[SessionMessage](0))
        assert process.stdin and process.stdout and process.stderr
        streams = process.stdout, process.stderr, process.stdin
        has_ended: list[bool] = []

        async def read() -> None:
            async with to_session:
                async for line in _lines(streams[0], ears):
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        ears.log(f"not a message: {line[:300].decode('utf-8', 'replace')}")
                        continue
                    try:
                        await to_session.send(SessionMessage(message))
                    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                        return
            has_ended.append(True)
            ears.ended(await _why_ended(process))

        async def write() -> None:
            async with from_session:
                async for each in from_session:
                    text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    with suppress(OSError, RuntimeError):
                        streams[2].write(text.encode("utf-8", "replace") + b"\n")
                        await streams[2].drain()

        async def listen() -> None:
            async for line in _lines(streams[1], ears):
                ears.log(line.decode("utf-8", "replace"))

        async with anyio.create_task_group() as tasks:
            for work in (read, write, listen):
                tasks.start_soon(work)
            try:
                yield from_server, to_server
            finally:
                if has_ended:
                    ears.ended(await _why_ended(process))
                tasks.cancel_scope.cancel()
                for stream in (to_session, from_server, from_session, to_server):
                    stream.close()


def _reversed(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    sending, receiving = pair
    return receiving, sending


async def _lines(stream: asyncio.StreamReader, ears: Ears) -> AsyncIterator[bytes]:
    """The lines of the stream, up to the first one that is too long."""
    while True:
        try:
            line = await stream.readline()
        except ValueError:
            ears.log(f"a line of more than {LONGEST_MESSAGE:,} bytes: the connection is closed")
            return
        except OSError:
            return
        if not line:
            return
        if line.strip():
            yield line
        await asyncio.sleep(0)  # readline doesn't pause for a line that has already arrived


async def _why_ended(process: asyncio.subprocess.Process) -> str:
    for _ in range(25):
        if process.returncode is not None:
            break
        await asyncio.sleep(0.02)
    code = process.returncode
    if code is None:
        return "it closed its output"
    return f"it ended with exit code {code}" if code >= 0 else f"it was killed by signal {-code}"


@asynccontextmanager
async def _http(
    server: McpServer, auth: AuthFactory | None, refusals: list[int]
) -> AsyncIterator[TransportStreams]:
    async def note(response: httpx2.Response) -> None:
        # Requests that are signed raise SignInNeeded themselves.
        if response.status_code == httpx2.codes.UNAUTHORIZED and not signs_in:
            refusals.append(response.status_code)

    # A server may keep a stream open: the time limits of the start and of each call end the wait.
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=None)
    signs_in = await auth(server) if auth else None

    def made(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = timeout,
        auth: httpx2.Auth | None = signs_in,
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={**server.headers, **(headers or {})},
            timeout=timeout,
            auth=auth,
            event_hooks={"response": [note]},
        )

    async with AsyncExitStack() as stack:
        if server.transport == "sse":
            opening = sse_client(server.url, auth=signs_in, sse_read_timeout=3600, httpx_client_factory=made)
            yield await stack.enter_async_context(opening)
        else:
            client = await stack.enter_async_context(made())
            yield await stack.enter_async_context(streamable_http_client(server.url, http_client=client))


async def _answers(server: McpServer) -> bool:
    """Whether a server's address answers at all. Asked outside the SDK, which ends the connection with the
    first request that can't reach the server."""
    if server.transport == "stdio":
        return True
    try:
        async with httpx2.AsyncClient(headers=server.headers, timeout=_CONNECT_SECONDS) as http:
            await http.head(server.url)
    except (httpx2.HTTPError, OSError):
        return False
    return True


@contextmanager
def _told_errors() -> Iterator[None]:
    """Turn errors of the SDK into Keen's errors."""
    try:
        yield
    except Exception as error:
        raise _failure(error) from error


def _failure(error: BaseException) -> ServerFailed:
    """The error as the end of a sentence."""
    if isinstance(error, ServerFailed):
        return error
    if isinstance(error, MCPError):
        if error.code == types.CONNECTION_CLOSED or error.message == _TERMINATED:
            return ServerGone("the connection to the server ended")
        return ServerFailed(f"the server answered with an error: {error.message}")
    if isinstance(error, ValidationError):
        return ServerFailed("the server's answer doesn't follow the protocol")
    if isinstance(error, TimeoutError):
        return ServerFailed("the server didn't answer in time")
    if isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError):
        return ServerGone("the connection to the server ended")
    if isinstance(error, httpx2.HTTPStatusError):  # its own text has the address, which may have a token
        return ServerGone(f"the server answered with HTTP {error.response.status_code}")
    if isinstance(error, httpx2.HTTPError | OSError):
        return ServerGone(f"the server can't be reached: {error or type(error).__name__}")
    return ServerFailed(f"{type(error).__name__}: {error}")


def first_error(error: BaseException) -> BaseException:
    """The first error in a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return plain
