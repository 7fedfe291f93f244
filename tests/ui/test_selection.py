"""Text selected with the mouse: what is copied, where it stays, and what lies beyond the view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot

from keen_tui.domain.display import FileDisplay
from keen_tui.frontends.tui.state.state import Block, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from tests.support.screen import (
    DIFF,
    TranscriptApp,
    done_block,
    long_session,
    look,
    running_timers,
    text_block,
    tool_block,
)
from tests.support.workspace import workspace

SMALL = (80, 20)


async def move(pilot: Pilot[Any], column: int, row: int) -> None:
    """Move the pointer with its button down, as a terminal tells it."""
    app = pilot.app
    app.post_message(events.MouseMove(None, column, row, 0, 1, 1, False, False, False, column, row))
    await pilot.pause()


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Press, move and let go, at these columns and rows of the screen."""
    await pilot.mouse_down(offset=start)
    await move(pilot, *end)
    await pilot.mouse_up(offset=end)


def selected(app: TranscriptApp) -> str:
    return app.screen.get_selected_text() or ""


def lit(app: TranscriptApp) -> list[str]:
    """The text that stands on the ground of selected text, row by row."""
    ground = look().styles("text", on="select").bgcolor
    rows = (app.transcript.render_line(row) for row in range(app.transcript.size.height))
    return [
        text
        for row in rows
        if (text := "".join(piece.text for piece in row if piece.style and piece.style.bgcolor == ground))
    ]


async def test_wrapped_lines_are_copied_as_one(tmp_path: Path) -> None:
    text = "word " * 30
    app = TranscriptApp((), (text_block(text), text_block("next", step=2)))
    async with app.run_test(size=SMALL) as pilot:
        await drag(pilot, (0, 0), (79, 4))
        assert selected(app) == text.strip() + "\n\nnext"
        assert lit(app)[-1] == "next"


async def test_decoration_and_padding_are_left_out() -> None:
    app = TranscriptApp((), (text_block("```python\nif x:\n    y()\n```"), tool_block(display=DIFF)))
    async with app.run_test(size=SMALL) as pilot:
        await drag(pilot, (2, 0), (70, 1))
        assert selected(app) == "if x:\n    y()"
        await drag(pilot, (0, 3), (79, 3))
        assert selected(app).startswith("bash  pytest -q") and not selected(app).endswith("▸")


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [((8, 0), (9, 0), "語"), ((4, 0), (8, 0), "日本語"), ((9, 0), (6, 0), "本語"), ((10, 0), (12, 0), "😀a")],
)
async def test_wide_characters_are_taken_whole(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> None:
    app = TranscriptApp((), (UserBlock(turn=1, text="日本語😀a"),))
    async with app.run_test(size=SMALL) as pilot:
        await drag(pilot, start, end)
        assert selected(app) == text
        assert lit(app) == [text]


async def test_a_double_click_selects_a_word_and_a_third_one_the_line() -> None:
    line = "see src/cart.py:12, then go on " + "and on " * 12
    app = TranscriptApp((), (UserBlock(turn=1, text=line + "\nanother line"),))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(offset=(12, 0), times=2)
        assert selected(app) == "src/cart.py:12"
        await pilot.click(offset=(12, 1), times=3)
        assert selected(app) == line.strip()
        await pilot.click(offset=(7, 0), times=2)
        assert selected(app) == "", "there is no word"


async def test_shift_and_a_click_select_up_to_there() -> None:
    app = TranscriptApp((), (UserBlock(turn=1, text="one two three"), UserBlock(turn=2, text="four five")))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(offset=(8, 0))
        await pilot.click(offset=(7, 2), shift=True)
        assert selected(app) == "two three\n\nfour"
        await pilot.click(offset=(10, 0), shift=True)
        assert selected(app) == "two"
        await pilot.click(offset=(10, 0))
        assert selected(app) == ""


async def test_a_selection_stays_on_its_words() -> None:
    past = Trail[Block](
        (
            tool_block("read", "read_file", display=FileDisplay(path="a", text="b")),
            UserBlock(turn=1, text="stay on these words"),
        )
    )
    app = TranscriptApp(tuple(past))
    async with app.run_test(size=SMALL) as pilot:
        await drag(pilot, (12, 2), (19, 2))
        assert lit(app) == ["these wo"]
        await pilot.click(offset=(12, 19))
        await drag(pilot, (12, 2), (16, 2))
        app.transcript.next_folding()
        await pilot.pause()
        assert lit(app) == ["these"]
        app.transcript.show(past, (text_block("new text\n\n" * 20, open=True),))
        assert lit(app) == [] and selected(app) == "these"
        app.transcript.next_folding()
        app.transcript.action_scroll_home()
        await pilot.resize_terminal(20, 20)
        await pilot.pause()
        assert "".join(lit(app)) == selected(app) == "these"


async def test_a_selection_goes_with_the_blocks_that_it_was_in() -> None:
    app = TranscriptApp((), (UserBlock(turn=1, text="first"), UserBlock(turn=2, text="second")))
    async with app.run_test(size=SMALL) as pilot:
        await drag(pilot, (4, 2), (20, 2))
        assert selected(app) == "second"
        app.transcript.show(Trail(()), (UserBlock(turn=1, text="first"),))
        assert selected(app) == ""


async def test_a_selection_stays_when_the_past_of_a_long_session_arrives() -> None:
    whole = Trail[Block](long_session(80))
    app = TranscriptApp(tuple(whole)[-8:])
    async with app.run_test(size=(80, 40)) as pilot:
        await drag(pilot, (4, app.row_with("question 20")), (20, app.row_with("question 20")))
        assert selected(app) == "question 20"
        app.transcript.show(whole, ())
        assert selected(app) == "question 20"
        assert lit(app) == ["question 20"]


async def test_a_drag_beyond_the_view_scrolls_on_and_selects_what_comes(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        past = long_session(40)
        driver.screen.show(replace(driver.screen.state, past=Trail(past)))
        await driver.pilot.pause()
        transcript = driver.screen.transcript
        transcript.action_scroll_home()
        await driver.pilot.mouse_down(offset=(4, 3))
        await move(driver.pilot, 30, 18)
        await driver.until(lambda: transcript.viewport.below == 0)
        await move(driver.pilot, 30, 10)
        assert running_timers(transcript) == [], "no timer runs once the pointer is back"
        await move(driver.pilot, 30, 18)
        await driver.pilot.mouse_up(offset=(30, 18))
        assert running_timers(transcript) == []
        transcript.copy_selection()
        await driver.until_shown("copied")
        copied = driver.app.clipboard
        assert all(f"question {turn}\n" in copied for turn in range(2, 11))
        assert copied.endswith("return 10")


async def test_a_button_that_was_let_go_outside_of_the_terminal_is_noticed(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        driver.screen.show(replace(driver.screen.state, past=Trail(long_session(40))))
        await driver.pilot.pause()
        transcript = driver.screen.transcript
        await driver.pilot.mouse_down(offset=(20, 6))
        await move(driver.pilot, 4, 0)
        await driver.until(lambda: transcript.scroll_offset.y == 0)
        await driver.pilot.hover(offset=(30, 10))
        assert running_timers(transcript) == []
        before = driver.screen.get_selected_text()
        await driver.pilot.hover(offset=(30, 12))
        assert driver.screen.get_selected_text() == before


async def test_a_drag_upwards_scrolls_up(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        driver.screen.show(replace(driver.screen.state, past=Trail(long_session(40))))
        await driver.pilot.pause()
        transcript = driver.screen.transcript
        await driver.pilot.mouse_down(offset=(20, 6))
        await move(driver.pilot, 4, 0)
        await driver.until(lambda: transcript.scroll_offset.y == 0)
        await driver.pilot.mouse_up(offset=(4, 0))
        assert (driver.screen.get_selected_text() or "").startswith("question 1\n")


async def test_ten_thousand_blocks_are_copied_while_keys_are_answered(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        driver.screen.show(replace(driver.screen.state, past=Trail(long_session(10_000))))
        await driver.pilot.pause()
        driver.screen.transcript.selection.select_all()
        driver.screen.run("interrupt")
        driver.app.post_message(events.Key("x", "x"))
        await driver.until(lambda: driver.written == "x")
        assert driver.screen.transcript.copier.busy
        await driver.until_shown("copied 44,999 lines")
        assert driver.app.clipboard.count("question ") == 2_500
        assert driver.app.clipboard.endswith("return 2500")
        document = driver.screen.transcript.document
        assert sum(entry.lines is not None for entry in document.entries) < 100


async def test_esc_unselects_before_it_leads_elsewhere(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        driver.screen.show(replace(driver.screen.state, past=Trail(long_session(8))))
        await driver.pilot.pause()
        driver.screen.transcript.focus()
        await driver.press("ctrl+a")
        assert driver.screen.transcript.selection.has_marks
        await driver.press("escape")
        assert not driver.screen.transcript.selection.has_marks
        assert driver.screen.focused_place == "transcript"
        await driver.press("escape")
        assert driver.screen.focused_place == "composer"


async def test_ctrl_c_copies_what_is_selected_and_does_not_stop(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=SMALL) as driver:
        blocks = (UserBlock(turn=1, text="words to copy"), done_block())
        driver.screen.show(replace(driver.screen.state, past=Trail(blocks)))
        await driver.pilot.pause()
        row = driver.row_with("words to copy")
        await driver.pilot.click(offset=(5, row), times=2)
        await driver.press("ctrl+c")
        await driver.until_shown("copied 1 line")
        assert driver.app.clipboard == "words"
        assert not driver.screen.transcript.selection.has_marks
        assert ("stop",) not in driver.session.calls
