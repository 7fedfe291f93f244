"""With the ASCII set nothing but ASCII is drawn, on any page: no ellipsis, no arrow, no scrollbar."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.domain.events import ApprovalRequested, ModelChanged
from keen_tui.frontends.tui.app import UiSettings
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.workspace import Driver, workspace


def drawn_beyond_ascii(driver: Driver) -> list[str]:
    return [row for row in driver.rows() if not row.isascii()]


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12), (45, 11)])
async def test_every_page_is_drawn_in_ascii(tmp_path: Path, size: tuple[int, int]) -> None:
    settings = UiSettings(glyphs="ascii")
    async with workspace(tmp_path, size=size, settings=settings, history=FakeHistory()) as driver:
        await driver.play(
            ModelChanged(
                model="a model with quite a long name " * 3,
                server="ollama",
                effort="high",
                context_window=200_000,
            ),
            *story.three_turns(),
            *story.discount_turn(),
            *story.edit(4, "d4", "deep/" * 30 + "cart.py"),
            story.incomplete(4),
        )
        assert drawn_beyond_ascii(driver) == []
        for keys in (["f1"], ["ctrl+p"], ["f3"], ["ctrl+f"], ["ctrl+b"], ["tab"], ["ctrl+x"]):
            await driver.press(*keys)
            await driver.pilot.pause()
            assert drawn_beyond_ascii(driver) == [], keys
            await driver.press("escape")
            await driver.pilot.pause()


async def test_a_question_is_drawn_in_ascii_and_its_whole_screen(tmp_path: Path) -> None:
    rows = tuple(DiffLine(sign="+", number=number, text="word " * 40) for number in range(1, 101))
    event = ApprovalRequested(
        turn=1, id="c", name="write_file", arguments={}, target="a.py", question="Create a.py?", why="",
        display=DiffDisplay(path="a.py", hunks=(rows,), added=100, removed=0, total_lines=100), grant=None,
    )  # fmt: skip
    async with workspace(tmp_path, size=(60, 20), settings=UiSettings(glyphs="ascii")) as driver:
        await driver.play(story.started(1, "go"), story.tool_started(1, "c", "write_file", "a.py"), event)
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        assert drawn_beyond_ascii(driver) == []
        await driver.press("ctrl+o")
        await driver.until_shown("rows 1 to")
        assert drawn_beyond_ascii(driver) == []
