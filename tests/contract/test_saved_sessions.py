"""A session that is left and opened again is the same one: on the screen, for the model, in lists."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.agent.services.change_service import ChangeService
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.domain.errors import SessionInUse, SessionRefused, StorageFailed
from keen_tui.domain.events import Event, Notice, NoticeOver, SessionOpened, SessionRestored
from keen_tui.domain.messages import TurnMemory
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import Block, ToolBlock, TurnRow, UiState
from keen_tui.memory.conversation import COMPACTED
from keen_tui.storage.journal import FileOpener, open_file
from keen_tui.storage.lookup.sessions import SessionStore
from tests.campaigns.crash.lives import session_of
from tests.campaigns.crash.model import Model
from tests.support.agent import EventLog
from tests.support.breaking_file import Disk, refused
from tests.support.saving import all_found
from tests.support.waiting import until_idle


@dataclass(frozen=True, slots=True)
class Program:
    """A program at work: its session, the manager that saves it, and everything that it published."""

    session: Session
    manager: SessionManager
    changes: ChangeService
    log: EventLog

    async def ask(self, text: str) -> None:
        self.session.submit(text)
        await until_idle(self.session)

    async def retry(self) -> None:
        self.session.retry()
        await until_idle(self.session)

    async def compact(self) -> None:
        self.session.compact()
        await until_idle(self.session)

    def texts(self) -> list[str]:
        return [message.text for message in self.session.conversation]


class Place:
    """A workspace and a home in which one program after the other runs."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.workspace = folder / "shop"
        self.workspace.mkdir()
        self.home = folder / "home"
        self.model = model
        self.store = SessionStore(self.home)

    @asynccontextmanager
    async def program(self, opening: str = "", *, opener: FileOpener = open_file) -> AsyncIterator[Program]:
        """A program, closed at the end; each of its requests must have been valid."""
        session, manager, changes = session_of(self.home, self.workspace, self.model.base_url, opener)
        log = EventLog(session.bus.subscribe())
        try:
            await manager.begin()
            if opening:
                await manager.open(opening)
            yield Program(session, manager, changes, log)
        finally:
            await session.close()
            await manager.close()
            self.model.assert_accepted()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with Model() as model:
        yield Place(tmp_path, model)


def seen_on_the_screen(events: Sequence[Event]) -> tuple[list[Block], list[TurnRow], str]:
    """Blocks, rows and title as the screen has them, apart from times and from live output."""
    state = apply_all(UiState(), events, 0.0)
    blocks = [
        replace(block, lines=0, bytes=0) if isinstance(block, ToolBlock) else block
        for block in (*state.past, *state.live)
    ]
    return blocks, list(state.turns), state.title


async def _done(at: Program) -> None:
    await at.ask("edit one")


async def _incomplete(at: Program) -> None:
    await at.ask("break one")
    assert at.session.pending


async def _retried(at: Program) -> None:
    await at.ask("break one")
    await at.retry()
    assert at.texts()[-1] == "First this.\n\nAll done."


async def _two_incomplete(at: Program) -> None:
    await at.ask("break one")
    await at.ask("break two")
    assert at.session.pending


async def _abandoned(at: Program) -> None:
    await at.ask("break one")
    at.session.discard()


async def _undone(at: Program) -> None:
    await at.ask("edit one")
    await at.changes.undo(1)
    assert at.texts()[-1] == "(changes of turn 1 undone)"


async def _compacted(at: Program) -> None:
    await at.ask("edit one")
    await at.compact()
    assert at.texts()[0] == COMPACTED


async def _failed(at: Program) -> None:
    await at.ask("fail now")
    assert at.texts() == ["fail now"]


async def _taken_back(at: Program) -> None:
    await at.ask("edit one")
    await at.ask("fail now")
    at.session.discard()


async def _renamed(at: Program) -> None:
    await at.ask("edit one")
    await at.manager.rename(at.manager.session_id, "Fix the cart")


async def _forgotten(at: Program) -> None:
    await at.ask("edit one")
    at.session.edit_memory(1, TurnMemory(notes=("keep it short",)))


ENDINGS: dict[str, Callable[[Program], Awaitable[None]]] = {
    function.__name__.strip("_").replace("_", " "): function
    for function in (
        _done, _incomplete, _retried, _two_incomplete, _abandoned, _undone, _compacted, _failed, _taken_back,
        _renamed, _forgotten,
    )
}  # fmt: skip


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
async def test_a_session_with_any_ending_is_the_same_when_it_is_opened_again(
    place: Place, end: Callable[[Program], Awaitable[None]]
) -> None:
    async with place.program() as first:
        await end(first)
        session_id, pending = first.manager.session_id, first.session.pending
        conversation = first.session.conversation
    live = first.log.events
    async with place.program(session_id) as second:
        assert (second.session.conversation, second.session.pending) == (conversation, pending)
        await second.ask("edit next")
        assert second.texts()[-1].endswith("All done.")
    restored = second.log.events[second.log.events.index(second.log.of(SessionOpened)[1]) :]
    until = next(place for place, event in enumerate(restored) if isinstance(event, SessionRestored))
    assert seen_on_the_screen(restored[: until + 1]) == seen_on_the_screen(live)


async def test_lists_search_and_titles_go_with_what_happened(place: Place) -> None:
    async with place.program() as at:
        await at.ask("edit needle")
        first = at.manager.session_id
        await at.manager.new()
        assert at.session.conversation == ()
        await at.ask("edit other")
        await at.manager.rename(first, "  The\x1b[31m needle \n and more")
        await at.manager.rename(at.manager.session_id, "Mine")
        rows = await at.manager.sessions()
        assert {row.id: row.title for row in rows} == {first: "The needle", at.manager.session_id: "Mine"}
        assert {row.id: row.in_use for row in rows} == {first: False, at.manager.session_id: True}
        assert [hit.session.id for hit in await all_found(at.manager, "needle")][:1] == [first]
        assert await all_found(at.manager, "NEEDLE") == (), "capitals are meant"
        with pytest.raises(SessionRefused, match="A title needs at least one word"):
            await at.manager.rename(first, " \n")
        with pytest.raises(SessionRefused, match="This session is open"):
            await at.manager.delete(at.manager.session_id)
        await at.manager.delete(first)
        assert [row.title for row in await at.manager.sessions()] == ["Mine"]
        with pytest.raises(StorageFailed, match="There is no session"):
            await at.manager.open(first)
        assert at.texts()[0] == "edit other"
        second = at.manager.session_id
    async with place.program(second) as at:
        assert at.log.of(SessionOpened)[-1].title == "Mine"


async def test_a_title_that_lists_have_lost_is_there_again_once_the_session_was_opened(
    place: Place,
) -> None:
    async with place.program() as at:
        await _renamed(at)
        session_id = at.manager.session_id
    place.store.path_of(session_id).with_suffix(".title").unlink()
    async with place.program(session_id) as at:
        assert at.log.of(SessionOpened)[-1].title == "Fix the cart"
        assert [row.title for row in await at.manager.sessions()] == ["Fix the cart"]


async def test_a_fork_knows_nothing_of_a_later_summary_and_has_the_changes_of_its_turns(
    place: Place,
) -> None:
    async with place.program() as at:
        for name in ("one", "two"):
            await at.ask(f"edit {name}")
        await at.changes.undo(2)
        await at.compact()
        await at.ask("edit three")
        whole, original = at.texts(), at.manager.session_id
        await at.manager.fork("", 1)
        assert at.texts() == ["edit one", "First this.\n\nAll done."]
        assert at.manager.session_id != original
        await at.ask("edit four")
        await at.changes.undo(1)
        assert not (place.workspace / "one.txt").exists()
        await at.manager.fork(original)
        assert at.texts() == whole
        rows = {row.id: row for row in await at.manager.sessions()}
        assert rows[at.manager.session_id].forked_from == original
        assert len(rows) == 3
        with pytest.raises(StorageFailed, match="has no turn 9"):
            await at.manager.fork(original, 9)
        assert len(await at.manager.sessions()) == 3


async def test_a_fork_of_an_unfinished_turn_carries_its_facts(place: Place) -> None:
    async with place.program() as at:
        await at.ask("break one")
        await at.manager.fork()
        await at.log.caught_up()
        assert at.log.of(SessionRestored)[-1].skipped.startswith("You are now in a copy of the session.")
        assert at.texts() == ["break one", "(turn abandoned)"]
        memory = at.session.conversation[-1].memory
        assert memory and memory.files_changed == ("one.txt",)
        await at.ask("edit next")


async def test_a_session_that_is_open_elsewhere_can_be_copied_but_not_opened(place: Place) -> None:
    async with place.program() as at:
        await at.ask("edit one")
        session_id = at.manager.session_id
    code = (
        "import sys; from pathlib import Path; from keen_tui.storage.lookup.sessions import SessionStore\n"
        "store = SessionStore(Path(sys.argv[1])); lock = store.lock(store.path_of(sys.argv[2]))\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(place.home), session_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as elsewhere:
        assert elsewhere.stdout and elsewhere.stdout.readline() == "open\n"
        async with place.program() as at:
            await at.ask("edit here")
            with pytest.raises(SessionInUse, match=r"is open in another program\. Fork it"):
                await at.manager.open(session_id)
            assert at.texts()[0] == "edit here"
            await at.manager.fork(session_id)
            assert at.texts()[0] == "edit one"
        elsewhere.kill()
    async with place.program(session_id) as at:
        assert at.texts()[0] == "edit one"


async def test_a_damaged_session_opens_and_says_so(place: Place) -> None:
    async with place.program() as at:
        await at.ask("edit one")
        session_id, conversation = at.manager.session_id, at.session.conversation
    path = place.store.path_of(session_id)
    path.write_bytes(path.read_bytes() + b"\0" * 512 + b'{"n":99')
    async with place.program(session_id) as at:
        assert at.session.conversation == conversation
        assert "1 damaged place (519 bytes)" in at.log.of(SessionRestored)[0].skipped
        await at.ask("edit two")
    async with place.program(session_id) as at:
        assert at.log.of(SessionRestored)[0].skipped == ""
        assert len(at.texts()) == 4


def notices(at: Program) -> list[str]:
    return [notice.text for notice in at.log.of(Notice)]


@pytest.mark.parametrize("spoil", ["a file", "a file within", "a folder in the way"])
async def test_without_a_home_a_session_works_in_memory_and_says_so_once(place: Place, spoil: str) -> None:
    match spoil:
        case "a file":
            place.home.touch()
        case "a file within":
            place.home.mkdir()
            (place.home / "sessions").touch()
        case "a folder in the way":
            path = place.store.new_path(place.workspace).parent
            path.parent.mkdir(parents=True)
            path.symlink_to(place.home / "nowhere")
    async with place.program() as at:
        await at.ask("edit one")
        await at.ask("break two")
        await at.retry()
        await at.compact()
        assert await at.manager.sessions() == ()
        assert await all_found(at.manager, "one") == ()
        for deed in (at.manager.fork(), at.manager.export("markdown")):
            with pytest.raises(SessionRefused, match="Nothing to"):
                await deed
        await at.manager.new()
        await at.ask("edit three")
    told = [text for text in notices(at) if "can't be saved" in text]
    assert len(told) == 2 and all("It continues in memory" in text for text in told)
    assert (place.workspace / "one.txt").exists()


async def test_a_session_on_a_full_disk_is_saved_whole_once_there_is_room(place: Place) -> None:
    disk = Disk()
    async with place.program(opener=disk.open) as at:
        await at.ask("edit one")
        disk.on_write = refused(28)
        await at.ask("edit two")
        assert "No space left on device" in notices(at)[-1]
        disk.on_write = lambda file, data: None
        await at.ask("edit three")
        session_id, conversation = at.manager.session_id, at.session.conversation
    full, *more = notices(at)
    assert [each.text for each in at.log.of(NoticeOver)] == [full]
    assert more == ["The session is saved again."]
    async with place.program(session_id) as at:
        assert at.session.conversation == conversation


async def test_a_session_opens_where_nothing_can_be_written_and_goes_on_in_memory(place: Place) -> None:
    async with place.program() as at:
        await at.ask("edit one")
        session_id, conversation = at.manager.session_id, at.session.conversation
    path = place.store.path_of(session_id)
    content = path.read_bytes()
    lock = path.with_suffix(".lock")
    lock.unlink()
    lock.mkdir()
    async with place.program(session_id) as at:
        assert at.session.conversation == conversation
        await at.ask("edit two")
        assert "can't be saved" in notices(at)[0]
    assert path.read_bytes() == content
    lock.rmdir()
    async with place.program(session_id) as at:
        assert at.session.conversation == conversation


async def test_what_another_program_wrote_meanwhile_is_not_written_over(place: Place) -> None:
    async with place.program() as at:
        await at.ask("edit one")
        session_id = at.manager.session_id
    path = place.store.path_of(session_id)
    lock = path.with_suffix(".lock")
    lock.unlink()
    lock.mkdir()
    async with place.program(session_id) as at:
        lock.rmdir()
        async with place.program(session_id) as other:
            await other.ask("edit two")
        content = path.read_bytes()
        await at.ask("edit three")
        assert "has changed in the meantime" in notices(at)[0]
    assert path.read_bytes() == content
