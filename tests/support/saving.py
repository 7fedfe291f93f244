"""A saved session, built like in the program: it can be left, opened by another program, or die."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keen_tui.agent.hooks.hooks import HookCommands
from keen_tui.agent.instructions.instructions import InstructionFiles
from keen_tui.agent.services.change_service import ChangeService
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.approvals import Permissions
from keen_tui.agent.turn.turn_setup import TurnOptions
from keen_tui.demo.model_server import ModelServer
from keen_tui.domain.choices import Api
from keen_tui.domain.reports import SearchHit
from keen_tui.memory.pending import PendingState
from keen_tui.providers.wire.provider import Provider
from keen_tui.settings.added.hooks import Hook
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.additions import Additions
from keen_tui.storage.journal import FileOpener, open_file
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.folders import workspace_folder
from keen_tui.tools.process.hook_process import HookPrograms
from keen_tui.tools.toolbox import CommandTerms, build_toolbox
from tests.support.agent import ONE_ATTEMPT, Bench, EventLog, Script, provider_for
from tests.support.waiting import until


@dataclass(frozen=True, slots=True)
class SavedBench(Bench):
    """A session at work with the manager that saves it, and its changes."""

    history: SessionManager
    changes: ChangeService
    store: SessionStore

    @property
    def file(self) -> Path:
        """The session file, once it exists."""
        folder = workspace_folder(self.store.root / "sessions", self.session.workspace)
        return folder / f"{self.history.session_id}.jsonl"

    @property
    def pending_file(self) -> Path:
        """The file for pending state, which may not exist."""
        return self.file.with_suffix(".pending")


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace and a home; every program that works there uses the same server."""

    folder: Path
    server: ModelServer
    api: Api

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @asynccontextmanager
    async def program(
        self,
        opening: str = "",
        *,
        durable: bool = True,
        memory_only: bool = False,
        home: Path | None = None,
        opener: FileOpener = open_file,
        watches: bool | None = None,
        hooks: Sequence[Hook] = (),
        servers: Sequence[McpServer] = (),
        **connection: Any,
    ) -> AsyncIterator[SavedBench]:
        """A running program, with a new session or with the one that `opening` names. `opener` opens session
        files. `watches`: whether it watches what commands change; None: it says nothing about that. `hooks`
        and `servers` run in it. `memory_only`: the user has decided against `durable`."""
        self.workspace.mkdir(exist_ok=True)
        backup, store = TurnBackup(), SessionStore(home or self.home)
        provider: Provider = provider_for(self.server, self.api, **connection)
        session = Session(
            workspace=self.workspace,
            provider=provider,
            agents=SubAgents(),
            toolbox=build_toolbox(
                self.workspace,
                backup,
                commands=CommandTerms(
                    scratch=None if watches is None else self.folder / "scratch", watched=bool(watches)
                ),
                additions=Additions(servers=tuple(servers)),
            ),
            permissions=Permissions(mode="auto"),
            options=TurnOptions(retries=ONE_ATTEMPT),
            instruction_files=InstructionFiles(
                workspace=self.workspace, settings_folder=home or self.home, home=self.folder
            ),
            hooks=HookCommands(hooks, HookPrograms(self.workspace, {})),
        )
        history = SessionManager(
            session, store, backup, keeps_pending=durable, memory_only=lambda: memory_only, opener=opener
        )
        changes = ChangeService(session, backup)
        log = EventLog(session.bus.subscribe())
        await history.begin()
        try:
            if opening:
                await history.open(opening)
            await log.caught_up()
            yield SavedBench(session, log, self.server, provider, history, changes, store)
        finally:
            await session.close()
            await history.close()


def results_in(pending: PendingState, provider: Provider) -> list[str]:
    """The texts of the tool results in pending state."""
    texts: list[str] = []

    def collected(text: str) -> str:
        texts.append(text)
        return text

    for trace in pending.traces:
        provider.rewrite_results(trace.messages, collected)
    return texts


async def all_found(history: SessionManager, words: str) -> tuple[SearchHit, ...]:
    """The final results of a search."""
    return [hits async for hits in history.search(words)][-1]


@asynccontextmanager
async def place(folder: Path, api: Api, script: Script) -> AsyncIterator[Place]:
    """A place with a server that answers by the script."""
    async with ModelServer(script) as server:
        yield Place(folder, server, api)


def pending_files(place: Place) -> list[Path]:
    """All files with pending state, whole or half written."""
    return [file for file in place.home.rglob("*.pending*") if file.is_file()]


async def gone(file: Path) -> None:
    """Wait until the file doesn't exist."""
    await until(lambda: not file.exists())
