"""Colours that take long: the code is plain at first, and who draws is told when they are there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from keen_tui.display import FileDisplay
from keen_tui.highlighting import highlight as coloured_at_once
from keen_tui.highlighting import load
from keen_tui.ui import errands
from keen_tui.ui.highlight import AT_ONCE, ScreenColours, highlight
from keen_tui.ui.trail import Trail
from keen_tui.ui.transcript.document import Document
from tests.support.screen import look, tool_block

LINES = 2_000
CODE = "\n".join(f"def f{number}(): return {number}" for number in range(LINES))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Errands wait for it, and nobody waits for them."""
    open_gate = threading.Event()

    def load_late(language: str, path: str) -> None:
        assert open_gate.wait(30)
        load(language, path)

    monkeypatch.setattr(errands, "PATIENCE", 0)
    monkeypatch.setattr("keen_tui.ui.highlight.load", load_late)
    yield open_gate
    open_gate.set()


@pytest.fixture
async def told() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture(autouse=True)
async def listening(told: asyncio.Event) -> AsyncIterator[None]:
    errands.listen(told.set)
    yield
    errands.leave(told.set)


async def test_code_is_plain_until_what_colours_it_is_loaded(
    gate: threading.Event, told: asyncio.Event
) -> None:
    path = "plain-at-first.py"
    colours = ScreenColours("def f(): pass", path=path)
    assert colours[0] == [("def f(): pass", "text")]
    assert highlight("import os", path=path) == [[("import os", "text")]]
    gate.set()
    await asyncio.wait_for(told.wait(), 30)
    assert colours[0] == coloured_at_once("def f(): pass", path=path)[0] != [("def f(): pass", "text")]
    assert highlight("import os", path=path) == coloured_at_once("import os", path=path)


async def test_a_line_far_below_is_plain_until_the_code_above_is_read(told: asyncio.Event) -> None:
    colours = ScreenColours(CODE, path="far.py")
    while colours[0][0][1] != "keyword":
        await asyncio.wait_for(told.wait(), 30)
        told.clear()
    wanted = coloured_at_once(CODE, path="far.py")
    seen = colours[LINES - 1]
    if seen != wanted[-1]:
        assert seen == [(CODE.rsplit("\n", 1)[-1], "text")]
        await asyncio.wait_for(told.wait(), 30)
    assert [colours[number] for number in range(LINES)] == wanted


async def test_what_is_shown_gets_its_colours_when_they_are_there(
    gate: threading.Event, told: asyncio.Event
) -> None:
    display = FileDisplay(path="shown-early.py", text="def f(): pass")
    document = Document(look(), lambda: 0.0)
    document.show(Trail(), (tool_block(name="read", display=display),))
    document.toggle(0)
    early = document.lines(0)[1].segments
    document.recolour()
    assert document.lines(0)[1].segments == early
    gate.set()
    await asyncio.wait_for(told.wait(), 30)
    document.recolour()
    late = document.lines(0)[1].segments
    assert late != early
    assert "".join(each.text for each in late) == "".join(each.text for each in early)


async def test_a_failed_errand_is_done_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    errand = errands.Errand(lambda: 1 / 0)
    while not errand.is_done:
        await asyncio.sleep(0.01)
    assert "an errand failed" in caplog.text


async def test_code_too_long_to_be_coloured_in_a_frame_stays_plain() -> None:
    code = "x = 1\n" * AT_ONCE
    assert highlight(code, path="long.py")[0] == [("x = 1", "text")]
