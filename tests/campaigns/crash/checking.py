"""What must be true of a session after its program was killed, wherever that was."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keen_tui.domain.event_records import as_record
from keen_tui.domain.events import Event, SessionRenamed, ToolFinished, TurnDone
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import Message
from keen_tui.memory.conversation import COMPACTED
from keen_tui.memory.rendering import ABANDONED
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.reading import read_session
from tests.campaigns.crash.lives import session_of
from tests.campaigns.crash.model import SUMMARY, Model
from tests.support.session_files import REPRESENTATIVE
from tests.support.waiting import LIMIT, until_idle

Records = list[dict[str, Any]]


@dataclass(slots=True)
class Account:
    """What a life said to be on the disk, of which session."""

    session_id: str = ""
    saved: Records = field(default_factory=list)

    def take(self, words: Mapping[str, Any]) -> None:
        """Go on by what it said."""
        if "opened" in words:
            self.session_id, self.saved = words["opened"], []
        self.saved += words.get("saved", [])


def assert_saved(path: Path, saved: Records) -> list[Event]:
    """All that was said to be saved is in the file, in order and once; gives the events that are there."""
    if not path.exists():
        assert not saved, "the file is gone"
        return []
    session = read_session(path)
    numbers = [record.number for record in session.records]
    assert numbers == list(range(1, len(numbers) + 1)), "a record is missing, or there twice"
    assert len(session.damage) <= 1, "more than the last line is damaged"
    assert session.records, "the file is there without a record"
    events = [record.event for record in session.records]
    assert_begins_with(_joined([as_record(event) for event in events]), _joined(saved))
    return events


def assert_begins_with(found: Records, wanted: Records) -> None:
    """The last text may have gone on."""
    if wanted and wanted[-1]["type"] in _TEXTS and len(found) >= len(wanted):
        last = found[len(wanted) - 1]
        if str(last.get("text")).startswith(wanted[-1]["text"]):
            wanted = [*wanted[:-1], last]
    assert found[: len(wanted)] == wanted, "what was saved is not what is there"


_TEXTS = ("text_delta", "reasoning_delta")


def _joined(records: Sequence[Mapping[str, Any]]) -> Records:
    """Neighbouring deltas as one, as JSON gives them back: how they are cut says nothing."""
    joined: Records = []
    for record in json.loads(json.dumps(list(records))):
        last = joined[-1] if joined else {}
        same = all(last.get(name) == record.get(name) for name in ("type", "turn", "step"))
        if record["type"] in _TEXTS and same:
            last["text"] += record["text"]
        else:
            joined.append({name: value for name, value in record.items() if name != "seconds"})
    return joined


def assert_upkept(home: Path, account: Account) -> bool:
    """The session has its titles, each copy is a copy, and deleting what was left behind leaves nothing.

    Gives whether there was a session at all.
    """
    store = SessionStore(home)
    rows = store.list()
    assert all(not row.problem for row in rows)
    paths = {row.id: store.path_of(row.id) for row in rows}
    if not account.session_id:
        return bool(rows)
    events = assert_saved(paths[account.session_id], account.saved)
    for session_id, path in paths.items():
        copied = [record.event for record in read_session(path).records]
        if session_id != account.session_id:
            assert isinstance(copied.pop(), SessionRenamed), "a copy has a title of its own"
        assert copied == events[: len(copied)] and len(copied) >= len(REPRESENTATIVE)
        store.delete(path)
    left = [path.name for path in home.rglob("*") if path.is_file() and path.suffix not in _LEFT]
    assert not left, f"left behind: {left}"
    return True


_LEFT = (".forking", ".title", ".new", ".lock")
"""What a copy that was cut off leaves, and the empty lock of a deletion that was: they are listed nowhere."""


async def assert_goes_on(home: Path, workspace: Path, model: Model, account: Account) -> bool:
    """The newest session opens, is whole, carries what was done, and its next turn is accepted and done.

    Gives whether there was a session at all.
    """
    store = SessionStore(home)
    files = {path.stem: path for path in home.rglob("*.jsonl")}
    assert all(not row.problem for row in store.list())
    if account.session_id in files:
        events = assert_saved(files[account.session_id], account.saved)
    else:
        assert not account.saved, "the session is gone"
    newest = store.newest(workspace)
    if newest is None:
        return False
    events = [record.event for record in read_session(files[newest.id]).records]
    async with asyncio.timeout(LIMIT):
        first = await _opened(home, workspace, model, newest.id, events)
        again = await _opened(home, workspace, model, newest.id, events, then="next")
    assert first == again, "opening it twice gives two conversations"
    ran = (workspace / "counter").read_text().split()
    assert len(ran) == len(set(ran)), "a command ran twice"
    return True


async def _opened(
    home: Path, workspace: Path, model: Model, session_id: str, events: Sequence[Event], then: str = ""
) -> tuple[Message, ...]:
    """The conversation as it is opened; `then` is a message to go on with, behind what is still open."""
    session, manager, _ = session_of(home, workspace, model.base_url)
    try:
        await manager.begin()
        await manager.open(session_id)
        conversation = session.conversation
        _assert_remembered(conversation, session.pending.facts if session.pending else (), events)
        for message in conversation:
            if message.text not in (COMPACTED, ABANDONED) and message.by_program:
                assert message.text == SUMMARY or message.text.startswith("(changes of turn")
        if then:
            await _go_on(session, then)
    finally:
        await session.close()
        await manager.close()
    return conversation


async def _go_on(session: Any, text: str) -> None:
    if session.pending or (session.conversation and session.conversation[-1].role == "user"):
        session.retry()
        await until_idle(session)
    if session.pending or (session.conversation and session.conversation[-1].role == "user"):
        session.discard()
    session.submit(f"edit {text}-{session.turn}")
    await until_idle(session)
    assert session.conversation[-1].role == "assistant", "the next turn was not done"


def _assert_remembered(
    conversation: Sequence[Message], pending: Sequence[object], events: Sequence[Event]
) -> None:
    """Every fact of a finished call is in a TurnMemory, or in the pending state."""
    memories = [message.memory for message in conversation if message.memory]
    kept = {path for memory in memories for path in memory.files_changed}
    failed = {command.command for memory in memories for command in memory.failed_bash}
    kept |= {fact.path for fact in pending if isinstance(fact, FileChanged)}
    failed |= {fact.command for fact in pending if isinstance(fact, CommandFailed)}
    for event in events:
        if isinstance(event, ToolFinished):
            for fact in event.result.facts:
                if isinstance(fact, FileChanged):
                    assert fact.path in kept, f"{fact} is forgotten"
                elif isinstance(fact, CommandFailed):
                    assert fact.command in failed, f"{fact} is forgotten"
    done = {event.turn for event in events if isinstance(event, TurnDone)}
    assert done or not any(message.role == "assistant" and not message.by_program for message in conversation)
