"""What a screen may expect of the saved sessions: of the real ones, and of the fake ones in its tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Reply, Say
from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.frontends.shared.history_port import HistoryPort
from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.agent import at_work
from tests.support.fake_history import FakeHistory, saved

OK = Reply([Say("Ok.")])
TITLES = ("first about carts", "second about dates")


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[HistoryPort]:
    """Two saved sessions of this workspace, and one of another; a new one is on the screen."""
    store, here, elsewhere = SessionStore(folder / "data"), folder / "work", folder / "other"
    for workspace, texts in ((elsewhere, ("third elsewhere",)), (here, TITLES)):
        workspace.mkdir()
        async with at_work(lambda _: OK, workspace) as bench:
            manager = SessionManager(bench.session, store, TurnBackup())
            await manager.begin()
            for text in texts:
                await bench.ask(text)
                await manager.new()
            if workspace is here:
                yield manager
            await bench.session.close()
            await manager.close()


@asynccontextmanager
async def fake(folder: Path) -> AsyncIterator[HistoryPort]:
    here, elsewhere = folder / "work", folder / "other"
    kept = (
        saved("s1", TITLES[0], hours=3, workspace=here),
        saved("s2", TITLES[1], hours=2, workspace=here),
        saved("p1", "third elsewhere", hours=4, workspace=elsewhere),
    )
    history = FakeHistory(*kept, here=here)
    first = SearchHit(session=kept[0], turn=1, before="first about ", words="carts", after="")
    history.hits = {"carts": (first,)}
    yield history


Open = Callable[[Path], AbstractAsyncContextManager[HistoryPort]]


@pytest.fixture(params=[real, fake], ids=["real", "fake"])
async def history(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[HistoryPort]:
    opened: Open = request.param
    async with opened(tmp_path) as history:
        yield history


async def titles(history: HistoryPort, *, everywhere: bool = False, most: int | None = None) -> list[str]:
    return [each.title for each in await history.sessions(everywhere=everywhere, most=most)]


async def listed(history: HistoryPort, title: str) -> SavedSession:
    return next(each for each in await history.sessions(everywhere=True) if each.title == title)


async def test_those_of_this_workspace_are_listed_newest_first(history: HistoryPort) -> None:
    assert await titles(history) == [TITLES[1], TITLES[0]]
    assert await titles(history, most=1) == [TITLES[1]]
    assert sorted(await titles(history, everywhere=True)) == sorted((*TITLES, "third elsewhere"))


async def test_a_search_ends_with_all_that_was_found(history: HistoryPort) -> None:
    found = [hits async for hits in history.search("carts")]
    assert [hit.session.title for hit in found[-1]] == [TITLES[0]]
    none = [hits async for hits in history.search("nowhere to be found")]
    assert none[-1] == ()


async def test_an_opened_one_is_the_one_on_the_screen(history: HistoryPort) -> None:
    first = (await listed(history, TITLES[0])).id
    before = history.session_id
    await history.open(first)
    assert history.session_id == first != before
    await history.fork()
    copy = history.session_id
    assert copy not in (first, before)
    await history.new()
    assert history.session_id not in (first, copy)


async def test_one_gets_another_title_and_one_is_deleted(history: HistoryPort) -> None:
    first, second = [(await listed(history, title)).id for title in TITLES]
    await history.rename(first, "a better title")
    assert "a better title" in await titles(history)
    with pytest.raises(KeenError):
        await history.rename(first, "  ")
    await history.delete(second)
    assert await titles(history) == ["a better title"]
    await history.open(first)
    with pytest.raises(KeenError):
        await history.delete(first)


async def test_an_export_is_a_file_outside_the_workspace_or_where_it_was_wanted(
    history: HistoryPort, tmp_path: Path
) -> None:
    await history.open((await listed(history, TITLES[0])).id)
    exported = (await history.export("markdown")).resolve()
    assert exported.parent.name == "exports"
    assert not exported.is_relative_to(tmp_path / "work")
    assert await history.export("json", "it.json") == tmp_path / "work" / "it.json"


async def test_whether_pending_work_outlives_the_program_can_be_changed_at_any_time(
    history: HistoryPort,
) -> None:
    assert not history.keeps_pending
    for durable in (True, False):
        history.keep_pending(durable)
        assert history.keeps_pending is durable
