"""Keen as an agent of the protocol: one method for each request of the editor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from acp.agent.connection import AgentSideConnection
from acp.exceptions import RequestError
from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    AcpMcpServer,
    AgentCapabilities,
    AuthenticateResponse,
    AuthMethodAgent,
    ClientCapabilities,
    CloseSessionResponse,
    ForkSessionResponse,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    SseMcpServer,
)

from keen_tui import __version__
from keen_tui.domain.errors import ConfigError, KeenError, ModelMissing, SessionInUse, SessionUnknown
from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.acp.client_files import ClientFiles
from keen_tui.frontends.acp.content import PromptBlock
from keen_tui.frontends.acp.editor_session import EditorClient, EditorSession
from keen_tui.frontends.acp.options import choose_mode, choose_option, modes_of, options_of
from keen_tui.frontends.acp.pipes import PipeTransport
from keen_tui.frontends.shared.editor_port import EditorWork, NamedServer
from keen_tui.text.sanitize import clean

log = logging.getLogger(__name__)

_AUTH_REQUIRED: Final = -32000
_NOT_FOUND: Final = -32002
_INVALID_PARAMS: Final = -32602
_INVALID_REQUEST: Final = -32600

_METHOD: Final = AuthMethodAgent(
    id="keen",
    name="Keen's own model and key",
    description=(
        "Start keen-tui in a terminal, choose a model with f2 and enter its key there; or set the variable "
        "of your provider (ANTHROPIC_API_KEY, OPENAI_API_KEY ...) in the editor's settings for this agent."
    ),
)
_PER_PAGE: Final = 50
"""Sessions in one answer of session/list."""
_LONGEST_SHOWN: Final = 200
"""Characters of a refused path that are quoted."""


class KeenAgent:
    """Answers the requests of an editor. Several sessions can be open."""

    def __init__(self, work: EditorWork, transport: PipeTransport) -> None:
        self._work = work
        self._transport = transport
        self._connection: AgentSideConnection | None = None
        self._sessions: dict[str, EditorSession] = {}
        self._can = ClientCapabilities()

    def on_connect(self, connection: Any) -> None:
        """Called by the SDK."""
        self._connection = connection

    async def close(self) -> None:
        """Close all sessions."""
        sessions, self._sessions = tuple(self._sessions.values()), {}
        await asyncio.gather(*(session.close() for session in sessions))

    # Before any session

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **_: Any,
    ) -> InitializeResponse:
        """The capabilities of Keen. It speaks one version of the protocol."""
        self._can = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="keen-tui", title="Keen", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    fork=SessionForkCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[_METHOD],
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Check that a model and its key are configured; editors can't enter them."""
        if method_id != _METHOD.id:
            raise RequestError(_INVALID_PARAMS, f"There is no sign-in {method_id!r}, only {_METHOD.id!r}.")
        if missing := await asyncio.to_thread(self._work.missing):
            raise RequestError(_AUTH_REQUIRED, missing)
        return AuthenticateResponse()

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """The saved sessions of a folder, or of all folders."""
        first = int(cursor) if cursor and cursor.isdecimal() and len(cursor) < 10 else 0
        if cursor and not first:
            raise RequestError(_INVALID_PARAMS, f"The cursor {cursor!r} isn't one of Keen's.")
        with _answered():
            saved = await self._work.sessions(_folder(cwd) if cwd else None)
        more = len(saved) > first + _PER_PAGE
        return ListSessionsResponse(
            sessions=[_info(session) for session in saved[first : first + _PER_PAGE]],
            next_cursor=str(first + _PER_PAGE) if more else None,
        )

    # Sessions

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[ClientServer] | None = None, **_: Any
    ) -> NewSessionResponse:
        """Begin a session."""
        session = await self._begun(cwd, mcp_servers)
        return NewSessionResponse(
            session_id=session.id, modes=modes_of(session.setup), config_options=[*options_of(session.setup)]
        )

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[ClientServer] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Open a saved session, and send everything that happened in it."""
        session = self._sessions.get(_named(session_id))
        if session is None or session.has_turns:
            await self._let_go(session_id)
            session = await self._begun(cwd, mcp_servers, opens=session_id, replays=True)
        return LoadSessionResponse(modes=modes_of(session.setup), config_options=[*options_of(session.setup)])

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[ClientServer] | None = None, **_: Any
    ) -> ResumeSessionResponse:
        """Open a saved session. Does nothing if it is already open."""
        session = self._sessions.get(_named(session_id))
        if session is None:
            session = await self._begun(cwd, mcp_servers, opens=session_id)
        return ResumeSessionResponse(
            modes=modes_of(session.setup), config_options=[*options_of(session.setup)]
        )

    async def fork_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[ClientServer] | None = None, **_: Any
    ) -> ForkSessionResponse:
        """Open a copy of a session."""
        source = self._sessions.get(_named(session_id))
        opens = session_id if source is None or source.has_turns else ""  # it isn't saved before a turn
        session = await self._begun(cwd, mcp_servers, opens=opens, copies=True)
        return ForkSessionResponse(
            session_id=session.id, modes=modes_of(session.setup), config_options=[*options_of(session.setup)]
        )

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """Stop the session's turn and close the session. It stays saved."""
        session = self._open(session_id)
        del self._sessions[session_id]
        await session.close()
        return CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        """Change the permission mode."""
        with _answered():
            choose_mode(self._open(session_id).setup, mode_id)
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        """Change an option."""
        session = self._open(session_id)
        with _answered():
            choose_option(session.setup, config_id, str(value))
        return SetSessionConfigOptionResponse(config_options=[*options_of(session.setup)])

    async def prompt(self, session_id: str, prompt: Sequence[PromptBlock], **_: Any) -> PromptResponse:
        """Send a message and wait for the end of its turn."""
        session = self._open(session_id)
        with _answered():
            return await session.prompt(prompt)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the turn."""
        if session := self._sessions.get(session_id):
            session.cancel()
        else:
            log.warning("the editor cancels a session that isn't open")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Refuse: Keen adds no methods to the protocol."""
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore notifications that Keen doesn't know."""

    # Opening a session

    async def _begun(
        self,
        cwd: str,
        servers: Sequence[ClientServer] | None,
        *,
        opens: str = "",
        copies: bool = False,
        replays: bool = False,
    ) -> EditorSession:
        connection = self._connection
        assert connection is not None
        folder, named = _folder(cwd), servers_of(servers)
        with _answered():
            files = self._files(connection, folder)
            setup = self._work.begin(folder, named, files)
            session = EditorSession(setup, connection, self._client)
            try:
                if setup.models and setup.models.current is None:
                    raise ModelMissing(
                        await asyncio.to_thread(self._work.missing) or "No model is chosen yet."
                    )
                await session.begin(opens, copies=copies, replays=replays)
            except BaseException:
                await session.close()
                raise
        if files:
            files.session_id = session.id
        self._sessions[session.id] = session
        self._transport.after_reply(session.introduce)
        return session

    async def _let_go(self, session_id: str) -> None:
        """Close the session if it is open here, so that it can be opened again."""
        session = self._sessions.get(session_id)
        if session is None:
            return
        if session.is_busy or session.setup.session.pending:
            raise RequestError(
                _INVALID_REQUEST, f"Session {session_id} is already open here, and its turn isn't done."
            )
        del self._sessions[session_id]
        await session.close()

    def _open(self, session_id: str) -> EditorSession:
        """The open session with that id. Raises RequestError if there is none."""
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError(
                _NOT_FOUND, f"No session {session_id!r} is open here. Load it with session/load first."
            )
        return session

    def _files(self, connection: AgentSideConnection, folder: Path) -> ClientFiles | None:
        fs = self._can.fs
        reads, writes = bool(fs and fs.read_text_file), bool(fs and fs.write_text_file)
        return ClientFiles(connection, folder, reads=reads, writes=writes) if reads or writes else None

    @property
    def _client(self) -> EditorClient:
        elicitation, meta = self._can.elicitation, self._can.field_meta or {}
        return EditorClient(
            forms=bool(elicitation and elicitation.form is not None),
            terminals=meta.get("terminal_output") is True,
        )


def _named(session_id: str) -> str:
    """The id. Raises RequestError: it is empty, and would mean a new session."""
    if not session_id:
        raise RequestError(_NOT_FOUND, "The id of the session is empty.")
    return session_id


def _folder(cwd: str) -> Path:
    """The folder of a request. Raises RequestError if it isn't an absolute path of a folder."""
    path = Path(cwd)
    if "\0" in cwd or not path.is_absolute():
        raise RequestError(_INVALID_PARAMS, f"cwd must be an absolute path, not {cwd!r}.")
    with suppress(OSError, ValueError):  # too long, for example
        if path.is_dir():
            return path
    raise RequestError(_INVALID_PARAMS, f"cwd isn't a folder: {cwd[:_LONGEST_SHOWN]}.")


def _info(session: SavedSession) -> SessionInfo:
    used = datetime.fromtimestamp(session.last_used, UTC).isoformat(timespec="seconds")
    meta = {"keen/turns": session.turns, "keen/bytes": session.size}
    if session.in_use:
        meta["keen/inUse"] = True
    return SessionInfo(
        session_id=session.id,
        cwd=str(session.workspace),
        title=clean(session.title) or None,
        updated_at=used.replace("+00:00", "Z"),
        field_meta=meta,
    )


@contextmanager
def _answered() -> Iterator[None]:
    """A context in which a KeenError becomes an error of the protocol, with the same sentence."""
    refused = partial(RequestError, data=None)
    try:
        yield
    except ModelMissing as error:
        raise refused(_AUTH_REQUIRED, str(error)) from error
    except SessionUnknown as error:
        raise refused(_NOT_FOUND, str(error)) from error
    except SessionInUse as error:
        raise refused(_INVALID_REQUEST, f"{error} session/fork continues in a copy.") from error
    except ConfigError as error:
        raise refused(_INVALID_PARAMS, str(error)) from error
    except KeenError as error:
        raise refused(_INVALID_REQUEST, str(error)) from error


ClientServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def servers_of(servers: Sequence[ClientServer] | None) -> tuple[NamedServer, ...]:
    """The servers. Raises RequestError if one uses a transport that Keen doesn't offer."""
    return tuple(map(_server, servers or ()))


def _server(server: ClientServer) -> NamedServer:
    match server:
        case McpServerStdio():
            entry = {
                "type": "stdio",
                "command": server.command,
                "args": list(server.args),
                "env": {each.name: each.value for each in server.env},
            }
        case HttpMcpServer() | SseMcpServer():
            headers = {each.name: each.value for each in server.headers}
            entry = {"type": server.type, "url": server.url, "headers": headers}
        case AcpMcpServer():
            sentence = f"Keen can't reach the MCP server {server.name} through the editor's connection."
            raise RequestError(-32602, sentence)
    return NamedServer(name=server.name, entry=entry)
