"""Looking for words in the session on the screen: ctrl+f, hits in view, the way from one to the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.style import Style

from keen_tui.domain.display import FileDisplay
from keen_tui.frontends.tui.state.state import Block, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from tests.support.screen import DIFF, done_block, incomplete_turn, long_session, look, text_block, tool_block
from tests.support.workspace import Driver, workspace

NEEDLE_TURN: tuple[Block, ...] = (
    UserBlock(turn=50, text="a needle in the question"),
    tool_block("diff", "edit_file", "needle.py", turn=50, display=DIFF),
    text_block("one **needle** and\n\n" + "many words " * 14 + "another needle and the end", turn=50),
    done_block(50),
)


def past_with_needles() -> tuple[Block, ...]:
    return (*long_session(160), *NEEDLE_TURN, *long_session(40))


async def shown(driver: Driver, past: tuple[Block, ...], live: tuple[Block, ...] = ()) -> None:
    driver.screen.show(replace(driver.screen.state, past=Trail(past), live=live))
    await driver.pilot.pause()


def styles_of(driver: Driver, words: str) -> list[Style]:
    """The styles in which these words stand in the transcript, from top to bottom."""
    transcript = driver.screen.transcript
    segments = (segment for row in range(transcript.size.height) for segment in transcript.render_line(row))
    return [segment.style for segment in segments if segment.text == words and segment.style]


async def test_typed_words_are_counted_and_the_nearest_above_is_shown(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("4 of 4")
        assert driver.shows("another needle")
        assert driver.shows("up older   down newer   esc stay   ctrl+f go back")
        current, hit = look().styles("on-accent", on="accent"), look().styles("text", on="select")
        await driver.until(lambda: bool(styles_of(driver, "needle")))
        assert [style.bgcolor for style in styles_of(driver, "needle")][-1] == current.bgcolor
        await driver.press("up")
        await driver.until_shown("3 of 4")
        assert [style.bgcolor for style in styles_of(driver, "needle")][-2:] == [current.bgcolor, hit.bgcolor]


async def test_a_hit_over_a_wrap_lights_up_in_both_rows(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, (text_block("word " * 12 + "the needle goes on in the next row"),))
        await driver.press("ctrl+f")
        await driver.type("needle goes")
        await driver.until_shown("1 of 1")
        assert len(styles_of(driver, "needle")) == len(styles_of(driver, "goes")) == 1
        assert driver.row_with("goes on") == driver.row_with("needle") + 1


async def test_esc_stays_at_the_hit_and_ctrl_f_goes_back(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        for key, stays in (("escape", True), ("ctrl+f", False)):
            driver.screen.transcript.action_scroll_end()
            await driver.press("ctrl+f")
            await driver.type("needle")
            await driver.until_shown("4 of 4")
            await driver.press(key)
            await driver.until(lambda: not driver.shows("find  "))
            assert driver.shows("another needle") is stays
            assert driver.screen.transcript.viewport.following is not stays
            assert driver.screen.focused is driver.screen.prompt
            assert all(style.bgcolor is None or not style.underline for style in styles_of(driver, "needle"))


async def test_going_back_from_further_up_leads_there(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        driver.screen.transcript.reveal(20)
        await driver.pilot.pause()
        before = driver.rows()[:16]
        await driver.press("ctrl+f")
        await driver.type("question 3")
        await driver.until_shown("1 of 12")
        await driver.press("up", "up")
        assert driver.rows()[:16] != before
        await driver.press("ctrl+f")
        await driver.until(lambda: driver.rows()[:16] == before)


async def test_a_hit_in_a_folded_call_opens_it_on_arrival(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        file = FileDisplay(path="needle.py", text="def total():\n    return amount\n")
        await shown(driver, (tool_block("read", "read_file", "needle.py", display=file), text_block("after")))
        await driver.press("ctrl+f")
        await driver.type("return amount")
        await driver.until_shown("1 of 1")
        assert driver.shows("2      return amount")
        await driver.type("s")
        await driver.until_shown("no matches")
        await driver.press("ctrl+f")
        await driver.until(lambda: not driver.shows("return amount"))


async def test_words_that_are_nowhere_are_told_from_the_first_letter_on(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        await driver.press("ctrl+f", "日")
        await driver.until_shown("no matches")


async def test_the_way_over_the_last_hit_is_told(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("4 of 4")
        await driver.press("down")
        await driver.until_shown("from the top   1 of 4")
        await driver.press("enter")
        await driver.until_shown("from the end   4 of 4")
        await driver.press("shift+enter", "ctrl+j")
        await driver.until_shown("2 of 4")


async def test_a_hit_at_the_end_comes_into_view_from_far_away(tmp_path: Path) -> None:
    first, last = UserBlock(turn=1, text="needle at first"), UserBlock(turn=90, text="needle at last")
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, (first, *long_session(160), last))
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("2 of 2")
        await driver.press("down")
        await driver.until_shown("needle at first")
        await driver.press("up")
        await driver.until_shown("needle at last")


async def test_capitals_narrow_what_is_found(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, (UserBlock(turn=1, text="Needle and needle"),))
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("2 of 2")
        await driver.press(*["backspace"] * 6, "N", "e")
        await driver.until_shown("1 of 1")


async def test_what_streams_in_is_searched_too_and_the_view_stays_at_the_hit(tmp_path: Path) -> None:
    past = past_with_needles()
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past, (text_block("a ", turn=60, open=True),))
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("4 of 4")
        before = driver.rows()[:15]
        await shown(driver, past, (text_block("a needle and a needle " + "x\n\n" * 9, turn=60, open=True),))
        await driver.until_shown("4 of 6")
        assert driver.rows()[:15] == before


async def test_a_hit_that_was_in_view_already_stays_there_when_text_streams_in(tmp_path: Path) -> None:
    past = (*long_session(80), UserBlock(turn=30, text="a needle"))
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past, (text_block("so", turn=30, open=True),))
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("1 of 1")
        row = driver.row_with("a needle")
        await shown(driver, past, (text_block("so it goes\n\n" * 9, turn=30, open=True),))
        assert driver.row_with("a needle") == row
        await driver.press("ctrl+f")
        await driver.until(lambda: driver.screen.transcript.viewport.following)


async def test_find_takes_its_words_from_the_composer_too(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        await driver.type("/find another needle")
        await driver.press("enter")
        await driver.until_shown("1 of 1")
        assert driver.screen.focused_place == "search"


async def test_letters_typed_right_behind_the_key_are_words_to_look_for(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        await driver.press("ctrl+f", *"needle", "enter")
        await driver.until_shown("3 of 4")
        assert driver.written == ""


async def test_esc_closes_the_search_and_not_the_turn(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        driver.session.running = True
        await shown(driver, past_with_needles())
        await driver.press("ctrl+f", "escape")
        await driver.until(lambda: driver.screen.focused_place == "composer")
        assert ("stop",) not in driver.session.calls
        await driver.press("escape")
        assert ("stop",) in driver.session.calls


async def test_another_session_is_searched_for_the_same_words(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, past_with_needles())
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("4 of 4")
        other = (*long_session(80), UserBlock(turn=21, text="one needle"), *long_session(40))
        driver.screen.show(replace(driver.screen.state, session_id="other", past=Trail(other), live=()))
        await driver.until_shown("1 of 1")
        await driver.until_shown("one needle")


@pytest.mark.parametrize("theme", ["keen-dark", "keen-ansi16"])
async def test_without_colour_hits_are_underlined_and_the_current_one_is_reversed(
    tmp_path: Path, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, (UserBlock(turn=1, text="needle and needle"),), incomplete_turn(2))
        await driver.press("ctrl+f")
        await driver.type("needle")
        await driver.until_shown("2 of 2")
        first, second = styles_of(driver, "needle")
        assert first.underline and not first.reverse
        assert second.reverse and second.bold


async def test_ten_thousand_blocks_are_searched_without_being_drawn(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await shown(driver, long_session(10_000))
        await driver.press("ctrl+f")
        await driver.type("answer 17.")
        await driver.until_shown("1 of 1")
        await driver.until_shown("Answer 17.")
        document = driver.screen.transcript.document
        assert sum(entry.lines is not None for entry in document.entries) < 100
