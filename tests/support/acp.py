"""An editor, by the client side of the protocol's SDK, with the program at the other end of real pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
from acp.client.connection import ClientSideConnection
from acp.exceptions import RequestError
from acp.helpers import text_block
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ToolCallUpdate,
    WriteTextFileResponse,
)

from keen_tui.demo.model_server import ModelServer, Script
from tests.support.waiting import LIMIT, until

Answerer = Callable[[list[PermissionOption]], str | None]

_OURS = ("OPENAI", "ANTHROPIC", "KEEN")


class Editor:
    """Notes every update, and answers what it is asked. `answers` are ids of options, one for each permission
    request; without one, the request waits until `cancel_questions`."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.forms: list[Mapping[str, Any]] = []
        self.answers: list[str] = []
        self.filled: list[dict[str, Any] | None] = []
        self.buffers: dict[str, str] = {}
        self.written: list[tuple[str, str]] = []
        self.read: list[str] = []
        self._cancelled = asyncio.Event()

    def cancel_questions(self) -> None:
        """Answer open permission requests as cancelled."""
        self._cancelled.set()

    def of(self, kind: str) -> list[Any]:
        """The updates of a kind, such as `tool_call`."""
        return [update for _, update in self.updates if update.session_update == kind]

    @property
    def said(self) -> str:
        """Everything that the agent said."""
        return "".join(update.content.text for update in self.of("agent_message_chunk"))

    @property
    def calls(self) -> dict[str, dict[str, Any]]:
        """The tool calls by their ids, with all updates applied."""
        calls: dict[str, dict[str, Any]] = {}
        for update in (*self.of("tool_call"), *self.of("tool_call_update")):
            fields = update.model_dump(by_alias=True, exclude_none=True, exclude={"session_update"})
            calls.setdefault(update.tool_call_id, {}).update(fields)
        return calls

    # What the agent calls

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        if self.answers:
            chosen = AllowedOutcome(outcome="selected", option_id=self.answers.pop(0))
            return RequestPermissionResponse(outcome=chosen)
        await self._cancelled.wait()
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.forms.append({"message": message, **mode.model_dump(by_alias=True, exclude_none=True)})
        content = self.filled.pop(0)
        if content is None:
            return CancelElicitationResponse(action="cancel")
        return AcceptElicitationResponse(action="accept", content=content)

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        self.read.append(path)
        if path not in self.buffers:
            if not Path(path).is_file():
                raise RequestError.resource_not_found(path)
            return ReadTextFileResponse(content=Path(path).read_text("utf-8"))
        return ReadTextFileResponse(content=self.buffers[path])

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        self.written.append((path, content))
        self.buffers.pop(path, None)
        Path(path).write_text(content, "utf-8")
        return WriteTextFileResponse()


class Running:
    """An editor and the program that it has started."""

    def __init__(
        self,
        editor: Editor,
        connection: ClientSideConnection,
        process: asyncio.subprocess.Process,
        workspace: Path,
        server: ModelServer,
    ) -> None:
        self.editor = editor
        self.agent = connection
        self.process = process
        self.workspace = workspace
        self.server = server

    async def new(self, **more: Any) -> NewSessionResponse:
        """A session in the workspace."""
        return await self.agent.new_session(cwd=str(self.workspace), mcp_servers=[], **more)

    async def say(self, session: NewSessionResponse | str, text: str) -> PromptResponse:
        """Send a message and wait for the end of its turn."""
        id = session if isinstance(session, str) else session.session_id
        async with asyncio.timeout(LIMIT):
            return await self.agent.prompt(session_id=id, prompt=[text_block(text)])

    async def until(self, holds: Callable[[Editor], object]) -> None:
        """Wait until it holds for the editor."""
        await until(lambda: holds(self.editor), says=lambda: f"with {self.editor.updates[-3:]}")


class EditorProgram:
    """Starts the program for an editor, with its own folder and home."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.home = folder / "home"
        self.home.mkdir()

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        return kept | {"KEEN_HOME": str(self.home)}

    @asynccontextmanager
    async def start(
        self,
        script: Script = (),
        *flags: str,
        capabilities: ClientCapabilities | None = None,
        initializes: bool = True,
    ) -> AsyncIterator[Running]:
        """The program with a scripted model."""
        async with ModelServer(script) as server:
            model = ("--base-url", server.base_url, "--model", "scripted")
            async with self.connected([*model, *flags], capabilities, server, initializes) as running:
                yield running

    @asynccontextmanager
    async def connected(
        self,
        flags: Sequence[str],
        capabilities: ClientCapabilities | None,
        server: ModelServer,
        initializes: bool = True,
    ) -> AsyncIterator[Running]:
        editor = Editor()
        async with acp.spawn_agent_process(
            editor,  # type: ignore[arg-type]
            sys.executable,
            "-P",
            "-m",
            "keen_tui",
            "acp",
            *flags,
            env=self.environ,
            cwd=self.workspace,
            transport_kwargs={"limit": 50_000_000, "shutdown_timeout": 60.0},
            use_unstable_protocol=True,
        ) as (connection, process):
            running = Running(editor, connection, process, self.workspace, server)
            if initializes:
                await connection.initialize(
                    protocol_version=acp.PROTOCOL_VERSION, client_capabilities=capabilities
                )
            yield running


WITH_FILES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))
