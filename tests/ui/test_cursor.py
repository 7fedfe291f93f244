"""The block cursor of the transcript: where keys move it, what they do with its blocks, where it stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.events import CompactionStarted
from keen_tui.frontends.tui.look.glyphs import ASCII
from keen_tui.frontends.tui.state.state import CompactionBlock, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from tests.support.screen import (
    DIFF,
    TranscriptApp,
    done_block,
    incomplete_turn,
    long_session,
    look,
    text_block,
    tool_block,
)
from tests.support.waiting import until
from tests.support.workspace import workspace

SMALL = (80, 20)
CODE = "First:\n\n```python\none()\n```\n\n- then\n\n  ```\n  two()\n  ```\n"


def marked(app: TranscriptApp) -> list[str]:
    """The rows that carry the bar of the cursor."""
    return [row for row in app.rows if row.startswith("▌")]


async def test_it_moves_by_blocks_folds_and_copies() -> None:
    app = TranscriptApp((), incomplete_turn())
    async with app.run_test(size=(80, 50)) as pilot:
        app.transcript.focus()
        await pilot.press("up", "k")
        row = app.row_with("edit  src/cart.py")
        assert app.rows[row].startswith("▌ ✓ edit")
        raised = look().styles("text", on="raised").bgcolor
        segments = list(app.transcript.render_line(row))
        assert all(segment.style is not None and segment.style.bgcolor == raised for segment in segments[1:])
        await pilot.press("enter")
        assert "def total" not in app.rows[row + 1]
        await pilot.press("enter")
        assert app.rows[row + 1].startswith("▌") and "def total" in app.rows[row + 1]
        await pilot.press("y")
        await pilot.pause()
        assert app.copied[-1].startswith(" def total")
        assert app.clipboard == app.copied[-1]
        await pilot.press("j", "up")
        assert app.rows[row].startswith("▌ ✓ edit")
        app.set_focus(None)
        await pilot.pause()
        assert app.rows[row].startswith("  ✓ edit")


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (60, 8), (20, 5)])
async def test_it_is_seen_wherever_keys_lead_it(size: tuple[int, int]) -> None:
    app = TranscriptApp(long_session(80))
    async with app.run_test(size=size) as pilot:
        app.transcript.focus()
        for key in (*["up"] * 30, "pageup", "[", "[", *["down"] * 9, "pagedown", "]", "home", "shift+down"):
            await pilot.press(key)
            assert marked(app), key
        assert not app.transcript.viewport.following
        await pilot.press("end")
        assert marked(app) and app.transcript.viewport.following


async def test_a_block_higher_than_the_view_is_walked_through_a_page_at_a_time() -> None:
    numbers = "\n\n".join(f"paragraph {number}." for number in range(1, 41))
    blocks = (UserBlock(turn=1, text="go"), text_block(numbers), done_block())
    app = TranscriptApp(blocks)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("home", "down")
        seen = list(app.rows)

        async def down() -> None:
            await pilot.press("down")
            seen.extend(app.rows)

        await until(lambda: app.transcript.cursor.block != blocks[1], moment=down)
        assert all(any(f"paragraph {number}." in row for row in seen) for number in range(1, 41))
        assert app.transcript.cursor.block == blocks[2]
        await pilot.press("up")
        assert any("paragraph 40." in row for row in marked(app)), "its end is what comes first on the way up"
        await pilot.press(*["up"] * 5)
        assert any("paragraph 1." in row for row in app.rows)


async def test_pages_and_the_wheel_take_it_along() -> None:
    app = TranscriptApp(long_session(80))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("pageup", "pageup")
        assert len(marked(app)) > 0
        for _ in range(30):
            app.transcript.action_scroll_up()
        assert not marked(app)
        await pilot.press("up")
        assert marked(app)


async def test_brackets_lead_from_turn_to_turn() -> None:
    app = TranscriptApp(long_session(80))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("[")
        assert marked(app) == ["▌ › question 20"]
        await pilot.press("[", "ctrl+up")
        assert marked(app) == ["▌ › question 18"]
        await pilot.press("up", "[")
        assert marked(app) == ["▌ › question 17"]
        await pilot.press("]")
        assert marked(app) == ["▌ › question 18"]
        await pilot.press("g", "[")
        assert marked(app) == ["▌ › question 1"]
        await pilot.press("G", "]")
        assert app.transcript.viewport.following


async def test_shift_takes_more_blocks_and_y_copies_them() -> None:
    blocks = (UserBlock(turn=1, text="question"), text_block("**reply**"), UserBlock(turn=2, text="next"))
    app = TranscriptApp(blocks)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("home", "shift+down", "J", "shift+up")
        assert len(marked(app)) == 2
        await pilot.press("y")
        assert app.clipboard == "question\n\n**reply**"
        await pilot.press("down", "ctrl+y")
        assert app.clipboard == "next"
        assert len(marked(app)) == 1


async def test_c_copies_the_code_piece_by_piece() -> None:
    diff = tool_block("e", "edit_file", display=DIFF)
    app = TranscriptApp((text_block(CODE), diff, UserBlock(turn=2, text="x")))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("home", "c")
        assert app.clipboard == "one()"
        await pilot.press("c")
        assert app.clipboard == "two()"
        await pilot.press("c")
        assert app.clipboard == "one()"
        await pilot.press("down", "c")
        assert app.clipboard.startswith(" def total")


async def test_it_stays_on_its_block_when_others_come_and_go() -> None:
    turn = incomplete_turn()
    compaction = CompactionBlock(turn=1, start=CompactionStarted(turns=1))
    app = TranscriptApp((), turn)

    async with app.run_test(size=(80, 50)) as pilot:
        await pilot.press("end")
        assert app.transcript.cursor.block is turn[-1]
        for live in (
            (*turn[:-1], compaction, turn[-1]),
            turn,
            (*turn, UserBlock(turn=2, text="more"), done_block(2)),
        ):
            app.transcript.show(Trail(()), live)
            assert app.transcript.cursor.block is turn[-1]
        app.transcript.show(Trail(()), turn[:2])
        assert app.transcript.cursor.block is turn[1]


@pytest.mark.parametrize("theme", ["keen-dark", "keen-light", "keen-contrast", "keen-safe", "keen-ansi16"])
@pytest.mark.parametrize("colour", [True, False])
async def test_its_bar_is_seen_in_every_theme(theme: str, colour: bool) -> None:
    app = TranscriptApp(long_session(8), theme=theme, glyphs=ASCII, colour=colour)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("home")
        assert app.rows[0].startswith("| > question 1")


async def test_copy_commands_take_the_reply_its_code_or_everything(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        newest = (UserBlock(turn=101, text="code please"), text_block(CODE, turn=101), done_block(101))
        blocks = (*long_session(400), *newest)
        driver.screen.show(replace(driver.screen.state, past=Trail(blocks)))
        for words, copied, told in (
            ("", CODE, "copied 12 lines"),
            (" code", "one()\n\ntwo()", "copied 3 lines of code"),
            (" all", "question 1\n\n", "lines"),
        ):
            driver.screen.prompt.write(f"/copy{words}")
            await driver.press("enter")
            await driver.until_shown(told)
            assert driver.app.clipboard.startswith(copied)
        assert f"code please\n\n{CODE}" in driver.app.clipboard
        driver.screen.run("copy", "what")
        await driver.until_shown("/copy code or /copy all")
