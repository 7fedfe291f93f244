"""Colours that take long: the code is plain at first, and who draws is told when they are there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from keen_tui.domain.display import DiffDisplay, DiffLine, FileDisplay
from keen_tui.frontends.shared.changes import ShownFile
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.highlight import AT_ONCE, ScreenColours, highlight
from keen_tui.frontends.tui.pages.changes.diff_view import DiffView
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.text.highlighting import highlight as coloured_at_once
from keen_tui.text.highlighting import is_loaded, load
from tests.support.screen import THEMES, look, tool_block
from tests.support.waiting import LIMIT, until


class _DiffApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.view = DiffView(Styles(THEMES["keen-dark"]), UNICODE)

    def compose(self) -> ComposeResult:
        yield self.view


@asynccontextmanager
async def diff_view(display: DiffDisplay) -> AsyncIterator[tuple[DiffView, Pilot[None]]]:
    """One diff on the screen."""
    app = _DiffApp()
    async with app.run_test() as pilot:
        app.view.show(ShownFile(path=display.path, diff=display), side_by_side=False)
        yield app.view, pilot


LINES = 2_000
CODE = "\n".join(f"def f{number}(): return {number}" for number in range(LINES))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Errands wait for it, and nobody waits for them."""
    open_gate = threading.Event()

    def load_late(language: str, path: str) -> None:
        assert open_gate.wait(30)
        load(language, path)

    monkeypatch.setattr(background, "PATIENCE", 0)
    monkeypatch.setattr("keen_tui.frontends.tui.markdown.highlight.load", load_late)
    yield open_gate
    open_gate.set()


@pytest.fixture
async def told() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture(autouse=True)
async def listening(told: asyncio.Event) -> AsyncIterator[None]:
    background.listen(told.set)
    yield
    background.leave(told.set)


async def test_code_is_plain_until_what_colours_it_is_loaded(
    gate: threading.Event, told: asyncio.Event
) -> None:
    path = "plain-at-first.py"
    colours = ScreenColours("def f(): pass", path=path)
    assert colours[0] == [("def f(): pass", "text")]
    assert highlight("import os", path=path) == [[("import os", "text")]]
    gate.set()
    await asyncio.wait_for(told.wait(), LIMIT)
    assert colours[0] == coloured_at_once("def f(): pass", path=path)[0] != [("def f(): pass", "text")]
    assert highlight("import os", path=path) == coloured_at_once("import os", path=path)


async def test_a_line_far_below_is_plain_until_the_code_above_is_read(told: asyncio.Event) -> None:
    colours = ScreenColours(CODE, path="far.py")
    await until(lambda: colours[0][0][1] == "keyword")
    wanted = coloured_at_once(CODE, path="far.py")
    seen = colours[LINES - 1]
    if seen != wanted[-1]:
        assert seen == [(CODE.rsplit("\n", 1)[-1], "text")]
        await until(lambda: colours[LINES - 1] == wanted[-1])
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
    await asyncio.wait_for(told.wait(), LIMIT)
    document.recolour()
    late = document.lines(0)[1].segments
    assert late != early
    assert "".join(each.text for each in late) == "".join(each.text for each in early)


async def test_a_failed_errand_is_done_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    errand = background.Errand(lambda: 1 / 0)
    await until(lambda: errand.is_done)
    assert "an errand failed" in caplog.text


async def test_code_too_long_to_be_coloured_in_a_frame_stays_plain() -> None:
    code = "x = 1\n" * AT_ONCE
    assert highlight(code, path="long.py")[0] == [("x = 1", "text")]


async def test_a_fence_with_one_long_line_is_coloured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[object] = []
    line = "x = [" + "1, " * 1_500 + "]"
    highlight("x", path="loaded.py")
    monkeypatch.setattr("keen_tui.frontends.tui.markdown.highlight.Errand", begun.append)
    await until(lambda: is_loaded("", "loaded.py"))
    assert highlight(line, path="loaded.py") == coloured_at_once(line, path="loaded.py")
    assert begun == []


async def test_a_diff_keeps_its_colours_when_some_came_late(told: asyncio.Event) -> None:
    """Else each redraw would begin to read anew, be late again, and so on."""
    hunk = tuple(DiffLine(sign="+", number=n, text=f"def f{n}(): return {n}") for n in range(1, 1_500))
    display = DiffDisplay(path="far-down.py", hunks=(hunk,), added=1_499, removed=0, total_lines=1_499)
    async with diff_view(display) as (view, pilot):
        await pilot.pause(0.2)
        view.scroll_to(y=1_400, animate=False)
        reads: list[object] = []
        wait = background.Errand.__init__

        def counted(errand: background.Errand, deed: Callable[[], object]) -> None:
            reads.append(deed)
            wait(errand, deed)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(background.Errand, "__init__", counted)
            for _ in range(20):
                view.refresh()
                await pilot.pause(0.05)
        assert len(reads) <= 3
