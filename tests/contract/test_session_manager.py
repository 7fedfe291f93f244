"""One session takes the place of another: nothing is lost on the way, and nothing lands in the wrong file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from keen_tui.agent.services.change_service import ChangeService
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import STOPPED, SessionRefused, StorageFailed
from keen_tui.domain.events import (
    ApprovalRequested,
    Event,
    SessionOpened,
    SessionRestored,
    ToolStarted,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
)
from keen_tui.domain.messages import Message, TurnMemory
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.records import Header, event_line, header_line
from tests.support.agent import Bench, Script, at_work
from tests.support.session_files import AT, call, incomplete, started, turn, write_session
from tests.support.waiting import until_idle

OK = Reply([Say("Ok.")])
CUT = Reply([Say("Half a sent")], broken=Break("reset"))
MOMENTS = range(0, 24, 2)
"""Turns of the event loop after which something is said while sessions are exchanged."""


@dataclass(frozen=True, slots=True)
class SavedAtWork:
    """A session manager at work, with the session that it saves."""

    bench: Bench
    manager: SessionManager
    store: SessionStore
    backup: TurnBackup

    def written(self) -> tuple[Message, ...]:
        """The user's messages of the session at work, as its file says them."""
        path = self.store.path_of(self.manager.session_id)
        events = [record.event for record in self.store.read(path).records]
        return tuple(
            Message(role="user", text=event.text, turn=event.turn)
            for event in events
            if isinstance(event, TurnStarted) and event.text is not None
        )

    def said(self) -> tuple[Message, ...]:
        """The user's messages as later turns are built from them."""
        return tuple(message for message in self.bench.session.conversation if message.role == "user")


@asynccontextmanager
async def saved_at_work(
    script: Script, folder: Path, *, keeps_pending: bool = False, mode: Mode = "auto"
) -> AsyncIterator[SavedAtWork]:
    store = SessionStore(folder / "data")
    async with at_work(script, folder, mode=mode) as bench:
        backup = TurnBackup()
        manager = SessionManager(bench.session, store, backup, keeps_pending=keeps_pending)
        await manager.begin()
        try:
            yield SavedAtWork(bench, manager, store, backup)
        finally:
            await bench.session.close()
            await manager.close()


async def moments(count: int) -> None:
    """Let the event loop turn that often."""
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_what_is_said_while_a_session_is_left_belongs_to_one_session_and_is_written_there(
    tmp_path: Path, moment: int
) -> None:
    async with saved_at_work(lambda _: OK, tmp_path) as at:
        await at.bench.ask("first")
        old = at.manager.session_id
        leaving = asyncio.create_task(at.manager.new())
        await moments(moment)
        at.bench.session.submit("meanwhile")
        await leaving
        assert at.manager.session_id != old
        await at.bench.ask("later")
        await at.manager.new()
        await at.manager.open(old)
        assert at.said() == at.written()


async def test_a_yes_for_the_session_ends_with_the_session(tmp_path: Path) -> None:
    def write(name: str) -> Reply:
        return Reply([Call("write_file", {"path": name, "content": "x"})])

    script = [write("a"), write("b"), OK, write("c"), OK]
    async with saved_at_work(script, tmp_path, mode="ask") as at:
        at.bench.session.submit("write")
        first = await at.bench.log.wait_for(ApprovalRequested)
        at.bench.session.answer(first.id, allow=True, scope="session")
        await at.bench.log.wait_for_end()
        await at.manager.new()
        at.bench.session.submit("write")
        second = await at.bench.log.wait_for(ApprovalRequested, 2)
        assert second.target == "c"


async def test_a_message_sent_while_an_unfinished_session_opens_comes_after_its_ends(tmp_path: Path) -> None:
    async with saved_at_work(lambda _: OK, tmp_path, keeps_pending=True) as at:
        path = at.store.new_path(tmp_path)
        path.parent.mkdir(parents=True)
        events = [started(1, "long ago"), *call(1, "a"), incomplete(1)]
        lines = (event_line(number, AT, event) for number, event in enumerate(events, 1))
        path.write_bytes(header_line(Header(id=path.stem, workspace="", began=AT)) + b"".join(lines))
        opening = asyncio.create_task(at.manager.open(path.stem))
        await at.bench.log.wait_for(SessionRestored)
        at.bench.session.submit("meanwhile")
        await opening
        await until_idle(at.bench.session)
        texts = [message.text for message in at.bench.session.conversation]
        assert texts == ["long ago", "(turn abandoned)", "meanwhile", "Ok."]
        at.bench.assert_valid_requests()


async def test_what_waits_in_the_queue_does_not_begin_while_the_session_is_left(tmp_path: Path) -> None:
    async with saved_at_work(lambda _: OK, tmp_path) as at:
        undone = asyncio.Event()

        async def undo() -> None:
            await undone.wait()

        undoing = asyncio.create_task(at.bench.session.undisturbed("undo", undo))
        await moments(1)
        at.bench.session.submit("queued")
        leaving = asyncio.create_task(at.manager.new())
        await moments(1)
        undone.set()
        await asyncio.gather(undoing, leaving)
        assert at.said() == ()
        assert at.bench.log.ends == []
        assert at.bench.server.requests == []


async def test_a_copy_of_a_session_at_work_holds_the_end_of_what_ran(tmp_path: Path) -> None:
    script = [
        Reply([Call("write_file", {"path": "a", "content": "x"}), Call("bash", {"command": "sleep 60"})])
    ]
    async with saved_at_work(script, tmp_path) as at:
        at.bench.session.submit("first")
        await at.bench.log.wait_for(ToolStarted, 2)
        await at.manager.fork()
        ended = await at.bench.log.wait_for(TurnIncomplete, 2)
        assert ended.detail == STOPPED, "not the end of a program"
        assert at.bench.session.conversation[-1].memory == TurnMemory(files_changed=("a",))


@pytest.mark.parametrize("moment", MOMENTS)
async def test_an_undo_that_began_before_the_user_leaves_is_remembered(tmp_path: Path, moment: int) -> None:
    async with saved_at_work(lambda _: OK, tmp_path) as at:
        await at.bench.ask("write a")
        file = tmp_path / "a"
        file.write_bytes(b"new")
        at.backup.keep(file, "a", b"old", b"new", 0o644)
        undoing = asyncio.create_task(ChangeService(at.bench.session, at.backup).undo(1))
        await moments(moment)
        undoing.cancel()
        await asyncio.wait({undoing})
    path = at.store.path_of(at.manager.session_id)
    told = [record.event for record in at.store.read(path).records if isinstance(record.event, TurnUndone)]
    assert bool(told) == (file.read_bytes() == b"old")


@pytest.mark.parametrize("name", ["~nobody-of-that-name/a.md", "a\0b.md", "x" * 300 + ".md"])
async def test_an_export_to_a_file_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    async with saved_at_work(lambda _: OK, tmp_path) as at:
        await at.bench.ask("hi")
        with pytest.raises(StorageFailed):
            await at.manager.export("markdown", name)


async def test_a_file_that_is_there_is_not_exported_over(tmp_path: Path) -> None:
    async with saved_at_work(lambda _: OK, tmp_path) as at:
        await at.bench.ask("hi")
        there = tmp_path / "mine.md"
        there.write_text("mine")
        link = tmp_path / "link.md"
        link.symlink_to(tmp_path / "elsewhere.md")
        for taken in (there, link):
            with pytest.raises(StorageFailed, match="already exists"):
                await at.manager.export("markdown", taken.name)
        assert there.read_text() == "mine"
        assert not (tmp_path / "elsewhere.md").exists()


async def test_exports_without_a_name_go_to_the_data_folder_and_only_the_user_can_read_them(
    tmp_path: Path,
) -> None:
    async with saved_at_work(lambda _: OK, tmp_path) as at:
        await at.bench.ask("hi")
        first, second = await at.manager.export("markdown"), await at.manager.export("markdown")
        page = await at.manager.export("html")
        session_id = at.manager.session_id
        assert [file.name for file in (first, second, page)] == [
            f"keen-{session_id}.md",
            f"keen-{session_id}-2.md",
            f"keen-{session_id}.html",
        ]
        assert {file.parent for file in (first, second, page)} == {at.store.root / "exports"}
        assert first.stat().st_mode & 0o777 == 0o600
        assert first.parent.stat().st_mode & 0o777 == 0o700


async def test_what_could_not_be_saved_is_told_when_the_user_leaves(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sessions").write_text("in the way")
    async with at_work([OK], tmp_path) as bench:
        manager = SessionManager(bench.session, SessionStore(tmp_path / "data"), TurnBackup())
        await manager.begin()
        await bench.ask("hi")
        await bench.session.close()
        assert "could not be saved" in await manager.close()


LONG = [event for number in range(1, 201) for event in turn(number, reply="x" * 60_000)]


async def test_a_long_session_shows_its_newest_turns_before_all_of_it_is_read(tmp_path: Path) -> None:
    async with saved_at_work([OK], tmp_path) as at:
        path = write_session(at.store.new_path(tmp_path), LONG)
        log, session = at.bench.log, at.bench.session
        opening = asyncio.create_task(at.manager.open(path.stem))
        await log.wait_for(SessionRestored)
        if not opening.done():
            session.submit("too early")
            with pytest.raises(SessionRefused):
                session.compact()
        await opening
        await log.wait_for(SessionRestored, 2)
        _, begun, tail, whole = turns_shown(log.events)
        assert (begun, tail, whole) == ([], list(range(181, 201)), list(range(1, 201)))
        assert len(session.conversation) == 400
        assert at.bench.server.requests == []
        await at.bench.ask("next")
        await at.manager.rename(path.stem, "a title")  # written behind the turn
        assert [message.text for message in at.written()][-1] == "next"


async def test_a_long_session_that_cannot_be_read_leaves_an_empty_one(tmp_path: Path) -> None:
    async with saved_at_work([OK], tmp_path) as at:
        path = write_session(at.store.new_path(tmp_path), LONG)
        path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":9'))
        with pytest.raises(StorageFailed, match="newer"):
            await at.manager.open(path.stem)
        await at.bench.ask("hello")
        await at.manager.rename(at.manager.session_id, "a title")  # written behind the turn
        assert [message.text for message in at.written()] == ["hello"]
        assert at.said() == at.written()


def turns_shown(events: Sequence[Event]) -> list[list[int]]:
    """The numbers of the turns that began, a list for each time that the screen began anew."""
    groups: list[list[int]] = [[]]
    for event in events:
        if isinstance(event, SessionOpened):
            groups.append([])
        elif isinstance(event, TurnStarted):
            groups[-1].append(event.turn)
    return groups
