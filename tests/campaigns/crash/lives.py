"""What a program does until it is killed: a life with a whole session, one with a journal alone, and one
that renames, copies and deletes.

All say over a pipe what they know to be on the disk. The first two die from within at a chosen write.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from keen_tui.agent.services.change_service import ChangeService
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.agent.turn.approvals import Permissions
from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.agent.turn.turn_setup import TurnOptions
from keen_tui.domain.bus import EventBus, Subscription
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.event_records import as_record
from keen_tui.domain.events import Event, SessionOpened, SessionRenamed, is_stored
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import Connection
from keen_tui.storage.journal import FileOpener, Journal, open_file
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.records import Header
from keen_tui.tools.toolbox import build_toolbox
from tests.support.session_files import REPRESENTATIVE, turn, write_session
from tests.support.waiting import until_idle

Say = Callable[[Mapping[str, Any]], None]

POINTS = ("before a write", "within a write", "after a write", "before the disk", "after the disk")
"""Where each write of the journal can be cut off by death."""


class Death:
    """Kills this very process at the `at`-th point that is passed, 0: never."""

    def __init__(self, at: int) -> None:
        self._left = at

    def comes(self) -> bool:
        """Whether this point is the one."""
        self._left -= 1
        return self._left == 0

    def may_come(self) -> None:
        if self.comes():
            os.kill(os.getpid(), signal.SIGKILL)


class DeadlyFile:
    """A journal's file with a point of death before, in and after each write and each wait for the disk."""

    def __init__(self, file: Any, death: Death) -> None:
        self._file = file
        self._death = death

    async def write(self, data: bytes) -> int:
        self._death.may_come()
        if self._death.comes():
            os.write(self._file.fileno(), data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        written = int(await self._file.write(data))
        self._death.may_come()
        return written

    async def flush(self) -> None:
        self._death.may_come()
        await asyncio.to_thread(os.fdatasync, self._file.fileno())
        self._death.may_come()

    async def truncate(self, size: int) -> int:
        return int(await self._file.truncate(size))

    def fileno(self) -> int:
        return int(self._file.fileno())

    async def close(self) -> None:
        await self._file.close()


def session_of(
    home: Path, workspace: Path, base_url: str, opener: FileOpener = open_file
) -> tuple[Session, SessionManager, ChangeService]:
    """A session that is saved, whose pending state outlives it, and its changes."""
    connection = Connection(model="scripted", base_url=base_url, api_key="k", key_source="KEY")
    backup = TurnBackup()
    session = Session(
        workspace=workspace,
        provider=build_provider("openai-chat", connection),
        agents=SubAgents(),
        toolbox=build_toolbox(workspace, backup),
        permissions=Permissions(mode="auto"),
        options=TurnOptions(retries=RetryPolicy(attempts=1)),
    )
    manager = SessionManager(session, SessionStore(home), backup, keeps_pending=True, opener=opener)
    return session, manager, ChangeService(session, backup)


def deadly(at: int) -> FileOpener:
    """Opens files that kill this process at the `at`-th point."""
    death = Death(at)

    async def opener(path: Path) -> DeadlyFile:
        return DeadlyFile(await open_file(path), death)

    return opener


async def live_session(job: Mapping[str, Any], say: Say) -> None:
    """Go on with the newest session, then do a bit of everything."""
    workspace, choose = Path(job["workspace"]), random.Random(job["seed"])
    home = Path(job["home"])
    session, manager, changes = session_of(home, workspace, job["base_url"], deadly(job["point"]))
    reader = session.bus.subscribe(wants=lambda event: isinstance(event, SessionOpened) or is_stored(event))
    telling = asyncio.create_task(_tell(reader, manager, say))
    await manager.begin()
    if newest := SessionStore(home).newest(workspace):
        await manager.open(newest.id)
    for number in range(job["turns"]):
        await _act(session, manager, changes, choose, f"{job['seed']}-{number}")
    await session.close()
    await telling
    await manager.close()


async def _act(
    session: Session, manager: SessionManager, changes: ChangeService, choose: random.Random, name: str
) -> None:
    """One thing that a user may do, whatever state the session is in."""
    if session.pending:
        session.retry() if choose.random() < 0.7 else session.discard()
    elif session.conversation and session.conversation[-1].role == "user":
        session.retry() if choose.random() < 0.5 else session.discard()
    else:
        deed = choose.choice(["edit", "edit", "edit", "break", "break", "compact", "rename", "undo"])
        with suppress(SessionRefused):
            if deed == "compact":
                session.compact()
            elif deed == "rename":
                await manager.rename(manager.session_id, name)
            elif deed == "undo":
                await changes.undo(-1)
            else:
                session.submit(f"{deed} {name}")
    await until_idle(session)


async def _tell(reader: Subscription, manager: SessionManager, say: Say) -> None:
    """Say what is on the disk. A session that is opened begins the account anew."""
    async for batch in reader:
        told: list[Event] = []
        for event in batch:
            if isinstance(event, SessionOpened):
                say({"opened": event.id})
                told.clear()
            else:
                told.append(event)
        if await manager.flushed():
            say({"saved": [as_record(event) for event in told]})


async def live_journal(job: Mapping[str, Any], say: Say) -> None:
    """Publish events on a bus that a journal reads."""
    path, choose, bus = Path(job["home"]) / "s.jsonl", random.Random(job["seed"]), EventBus()
    journal = Journal(
        path,
        Header(id="s", workspace="/w", began=1.0),
        bus,
        on_problem=lambda _: None,
        opener=deadly(job["point"]),
    )
    say({"opened": "s"})
    for number in range(job["turns"]):
        events = choose.choice([turn(number), list(REPRESENTATIVE)])
        for event in events:
            bus.publish(event)
            if choose.random() < 0.3:
                await asyncio.sleep(0)
        if await journal.flushed():
            say({"saved": [as_record(event) for event in events]})
    await journal.close()


async def live_upkeep(job: Mapping[str, Any], say: Say) -> None:
    """Rename behind torn lines, copy and delete sessions that nobody has open."""
    store, choose = SessionStore(Path(job["home"])), random.Random(job["seed"])
    workspace = Path(job["workspace"])
    path = store.new_path(workspace)
    write_session(path, REPRESENTATIVE)
    say({"opened": path.stem})
    say({"saved": [as_record(event) for event in REPRESENTATIVE]})
    copies: list[Path] = []
    for number in range(job["turns"]):
        deed = choose.choice(["rename", "rename", "copy", "delete"])
        if deed == "rename":
            if choose.random() < 0.5:
                with path.open("ab") as file:
                    file.write(b'{"n":99,"at":1.0,"type":"not')
            renamed = SessionRenamed(title=f"title {number}")
            store.append(path, renamed)
            say({"saved": [as_record(renamed)]})
            store.set_title(path, renamed.title)
        elif deed == "copy":
            copies.append(store.fork(path, workspace))
        elif copies:
            store.delete(copies.pop())


LIVES = {"session": live_session, "journal": live_journal, "upkeep": live_upkeep}
