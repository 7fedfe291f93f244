"""What a front end may expect of the changes of turns: of the real ones, and of the fake ones of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.port import ChangesPort
from tests.support.changes import file
from tests.support.fake_changes import FakeChanges
from tests.support.saving import place

OK = Reply([Say("Ok.")])
WRITE = Reply([Call("write_file", {"path": "a.py", "content": "1"})])


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[ChangesPort]:
    """Turn 1 wrote a file, turn 2 did not."""
    async with place(folder, "openai-chat", [WRITE, OK, OK]) as here, here.program() as bench:
        await bench.ask("write it")
        await bench.ask("say hi")
        yield bench.changes


@asynccontextmanager
async def fake(folder: Path) -> AsyncIterator[ChangesPort]:
    files = (file("a.py", None, "1"),)
    yield FakeChanges(
        {0: Changes(turn=0, title="", files=files), 1: Changes(turn=1, title="write it", files=files)}
    )


Open = Callable[[Path], AbstractAsyncContextManager[ChangesPort]]


@pytest.fixture(params=[real, fake], ids=["real", "fake"])
async def changes(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChangesPort]:
    opened: Open = request.param
    async with opened(tmp_path) as changes:
        yield changes


@pytest.mark.parametrize(("asked", "turn", "title"), [(0, 0, ""), (1, 1, "write it"), (-1, 1, "write it")])
async def test_files_are_those_of_the_turn_or_the_session_or_the_newest_turn_with_any(
    changes: ChangesPort, asked: int, turn: int, title: str
) -> None:
    found = await changes.changes(asked)
    assert (found.turn, found.title, found.undone) == (turn, title, False)
    assert [(each.path, each.before, each.after) for each in found.files] == [("a.py", None, b"1")]


async def test_a_turn_that_changed_nothing_has_no_files_and_nothing_to_undo(changes: ChangesPort) -> None:
    assert (await changes.changes(2)).files == ()
    with pytest.raises(SessionRefused):
        await changes.undo(2)


async def test_a_turn_is_undone_once(changes: ChangesPort) -> None:
    assert await changes.undo(1) == ""
    assert (await changes.changes(1)).undone
    with pytest.raises(SessionRefused):
        await changes.undo(1)
    with pytest.raises(SessionRefused):
        await changes.changes(-1)
