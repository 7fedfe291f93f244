"""A saved session with sub-agents, built as the program builds it, and scripts for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from keen_tui.agent.turn.audience import NO_AUDIENCE, PERSON
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, RecordedRequest, Reply, Say
from keen_tui.demo.wires import seen
from keen_tui.domain.choices import Api, Mode
from keen_tui.domain.models import ModelInfo
from keen_tui.settings.added.agents import BUILT_IN, AgentDefinition
from keen_tui.settings.added.hooks import Hook
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.additions import Additions
from keen_tui.settings.schema import Settings
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.system.paths import data_folder
from keen_tui.wiring.sessions import SessionProgram, build_saved_session
from tests.support.agent import EventLog, Script, provider_for
from tests.support.saving import SavedBench
from tests.support.waiting import until

WRITER = AgentDefinition(name="writer", description="Writes.", instructions="You write.", source="test")


def task(prompt: str, agent: str = "explore", id: str | None = None) -> Call:
    """A call of the tool `task`."""
    return Call("task", {"agent": agent, "prompt": prompt}, id=id)


def said(text: str) -> Reply:
    """A last reply."""
    return Reply([Say(text)])


class ByTask:
    """Answers each conversation from a script of its own: they are told apart by their first message. `sent`
    are the requests of each; `look` is called at each request."""

    def __init__(self, scripts: Mapping[str, Sequence[Answer]]) -> None:
        self.sent: dict[str, list[RecordedRequest]] = {}
        self.look: Callable[[], None] = lambda: None
        self._scripts = scripts
        self._next: Counter[str] = Counter()

    def __call__(self, request: RecordedRequest) -> Answer:
        first = next(message.text for message in seen(request) if message.role == "user")
        key = next(name for name in self._scripts if first.startswith(name))
        self.sent.setdefault(key, []).append(request)
        self.look()
        place = self._next[key]
        self._next[key] += 1
        return self._scripts[key][place]


@asynccontextmanager
async def with_agents(
    folder: Path,
    server: ModelServer,
    api: Api,
    environ: Mapping[str, str],
    *,
    opening: str = "",
    mode: Mode = "auto",
    durable: bool = False,
    attended: bool = True,
    attempts: int = 1,
    agents: Sequence[AgentDefinition] = (*BUILT_IN, WRITER),
    info: ModelInfo | None = None,
    hooks: Sequence[Hook] = (),
    servers: Sequence[McpServer] = (),
    sandbox: bool = False,
    begins: bool = True,
    **settings: Any,
) -> AsyncIterator[SavedBench]:
    """A running program with sub-agents; `opening` is the id of a session to go on with. `begins`: a session
    is opened here, and not by what is tested."""
    workspace = folder / "work"
    workspace.mkdir(exist_ok=True)
    store = SessionStore(data_folder(environ))
    provider = provider_for(server, api)
    session, history, changes = build_saved_session(
        Settings(mode=mode, pending_durable=durable, retry_attempts=attempts, sandbox=sandbox, **settings),
        workspace,
        provider,
        info,
        store,
        environ,
        SessionProgram(
            audience=PERSON if attended else NO_AUDIENCE,
            additions=Additions(agents=tuple(agents), hooks=tuple(hooks), servers=tuple(servers)),
        ),
    )
    log = EventLog(session.bus.subscribe())
    if begins:
        await history.begin()
    try:
        if opening:
            await history.open(opening)
        await log.caught_up()
        yield SavedBench(session, log, server, provider, history, changes, store)
    finally:
        await session.close()
        await history.close()


def own_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Lets everything of the user's be in the folder; returns the variables that say so."""
    home = {"KEEN_HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "data")}
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    return home


@dataclass(frozen=True, slots=True)
class Kill:
    """What is on the disk when the program is killed: `come` puts that back once it has ended."""

    session_id: str
    come: Callable[[], None]


async def kill_when(bench: SavedBench, reached: Callable[[], object]) -> Kill:
    """A kill at the moment when `reached` holds and the session is saved."""
    await until(reached)
    await bench.history.flushed()
    return Kill(bench.history.session_id, disk_of(bench.store))


def disk_of(store: SessionStore) -> Callable[[], None]:
    """Reads all files of the sessions, leaving out work trees. Called later, it puts them back: as the disk
    is when the program dies now. A thread may be renaming a new file meanwhile. Its temporary file is then
    left out, as if it hadn't been written yet."""
    saved: dict[Path, bytes] = {}
    for file in store.root.rglob("*.*"):
        with suppress(FileNotFoundError):
            if file.is_file() and "worktrees" not in file.parts:
                saved[file] = file.read_bytes()

    def die() -> None:
        for file, content in saved.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    return die


def server_of(scripts: Mapping[str, Sequence[Answer]]) -> tuple[ModelServer, ByTask]:
    """A server with a script for each conversation."""
    answers: ByTask = ByTask(scripts)
    script: Script = answers
    return ModelServer(script), answers
