"""The transcript on a screen: following, folding, the cursor, the mouse, long sessions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from textual.events import MouseScrollUp

from keen_tui.frontends.tui.look.glyphs import ASCII
from keen_tui.frontends.tui.state.state import TextBlock, UserBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.placed_block import LINES_KEPT
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

SMALL = (80, 20)


@pytest.mark.parametrize(("size", "rows"), [((60, 12), 5), ((80, 24), 5), ((120, 30), 8)])
async def test_the_incomplete_block_stands_at_the_end_over_the_full_width(
    size: tuple[int, int], rows: int
) -> None:
    app = TranscriptApp(long_session(40), incomplete_turn(99))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "Turn incomplete" in app.rows[-rows]
        retry = next(row for row in app.rows[-rows:] if "ctrl+r" in row)
        assert retry.startswith("▌    ctrl+r    retry")
        assert app.transcript.render_line(size[1] - 1).cell_length == size[0]
        assert app.transcript.viewport.key_chip_visible


async def test_the_incomplete_block_follows_the_height_of_the_terminal() -> None:
    app = TranscriptApp(long_session(40), incomplete_turn(99))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        low = app.transcript.document.height(len(app.transcript.document) - 1)
        await pilot.resize_terminal(80, 40)
        await pilot.pause()
        assert app.transcript.document.height(len(app.transcript.document) - 1) > low


async def test_scrolling_the_key_out_of_view_is_told() -> None:
    app = TranscriptApp(long_session(40), incomplete_turn(99))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        app.transcript.action_page_up()
        await pilot.pause()
        assert app.moves and not app.transcript.viewport.key_chip_visible
        assert not app.transcript.viewport.following
        app.moves.clear()
        app.transcript.action_scroll_end()
        await pilot.pause()
        assert app.moves and app.transcript.viewport.key_chip_visible
        assert app.transcript.viewport.following


async def test_several_moves_at_once_are_told_once() -> None:
    app = TranscriptApp(long_session(40), incomplete_turn(99))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        app.moves.clear()
        app.transcript.action_page_up()
        app.transcript.action_page_up()
        await pilot.pause()
        assert len(app.moves) == 1
        assert app.transcript.viewport.below


async def test_new_text_is_followed_until_the_user_scrolls_up() -> None:
    past = long_session(40)
    app = TranscriptApp(past)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        app.show(past, (UserBlock(turn=99, text="newest"),))
        assert app.rows[-1] == "  › newest"
        app.transcript.action_scroll_up()
        before = app.rows[:-1]
        app.show(past, (UserBlock(turn=99, text="newest"), text_block("more", turn=99)))
        assert app.rows[:-1] == before
        assert app.rows[-1].endswith("↓ 3 below  end")
        await pilot.press("end")
        assert app.rows[-1] == "▌   more"
        assert app.transcript.viewport.following


async def test_scrolling_down_to_the_end_follows_again() -> None:
    app = TranscriptApp(long_session(40))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("pageup")
        assert not app.transcript.viewport.following
        await pilot.press("pagedown")
        assert app.transcript.viewport.following
        assert app.transcript.viewport.below == 0


async def test_the_wheel_scrolls_three_rows() -> None:
    app = TranscriptApp(long_session(40))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        before = app.rows
        transcript = app.transcript
        transcript.post_message(MouseScrollUp(transcript, 5, 5, 0, 0, 0, False, False, False))
        await pilot.pause()
        assert app.rows[3:-1] == before[:-4]


async def test_a_scroll_by_textuals_own_means_is_understood() -> None:
    app = TranscriptApp(long_session(40))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        before = app.rows
        app.transcript.scroll_up(animate=False)
        assert not app.transcript.viewport.following
        assert app.rows[1:-1] == before[:-2]
        app.transcript.scroll_end(animate=False, immediate=True)
        assert app.transcript.viewport.following


async def test_scrolling_up_row_by_row_shows_every_row_once() -> None:
    past = long_session(200)
    app = TranscriptApp(past)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        seen = app.rows
        while app.transcript.scroll_offset.y:
            app.transcript.action_scroll_up()
            seen.insert(0, app.rows[0])
        whole = TranscriptApp(past)
        async with whole.run_test(size=(80, len(seen) + 5)):
            assert seen == whole.rows[: len(seen)]


async def test_streamed_text_ends_up_as_the_whole_text_looks() -> None:
    text = "Intro **bold**\n\n- one\n- two\n\n```python\nreturn 1\n```\n\nlast words"
    app = TranscriptApp()
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.pause()
        for end in range(1, len(text)):
            app.show((), (text_block(text[:end], open=True),))
        assert app.rows[7].endswith("last word▌")
        app.show((), (text_block(text), done_block()))
        streamed = app.rows
        app.show((), ())
        app.show((), (text_block(text), done_block()))
        assert app.rows == streamed


async def test_a_restarted_step_takes_its_text_away() -> None:
    user = UserBlock(turn=1, text="go")
    app = TranscriptApp((), (user, text_block("withdrawn", open=True)))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        app.show((), (user,))
        assert not any("withdrawn" in row for row in app.rows)
        app.show((), (user, text_block("anew", open=True)))
        assert app.rows[2] == "    anew▌"


async def test_a_click_on_a_tool_row_folds_it_and_unfolds_it_again() -> None:
    app = TranscriptApp((), (tool_block("edit", "edit_file", "a.py", display=DIFF), text_block("after")))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(app.transcript, offset=(12, 0))
        assert app.rows[2] == "    after"
        await pilot.click(app.transcript, offset=(12, 0), times=1)
        await pilot.pause()
        assert "def total" in app.rows[1]
        assert app.rows[8] == "    after"


async def test_details_unfold_all_calls_and_reasoning_at_once() -> None:
    app = TranscriptApp((), incomplete_turn())
    async with app.run_test(size=(80, 50)) as pilot:
        app.set_focus(None)
        await pilot.pause()
        app.transcript.next_folding()
        assert any("The test first." in row for row in app.rows)
        assert any("def total" in row for row in app.rows)
        app.transcript.next_folding()
        assert not any("The test first." in row for row in app.rows)


async def test_a_call_is_revealed_near_the_top() -> None:
    app = TranscriptApp(long_session(400))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        app.transcript.reveal(20, "b20")
        assert app.rows[2].startswith("▌ ✓ bash")
        assert "b20" not in app.rows[4] and "def total" in app.rows[3]
        app.transcript.reveal(3)
        assert "question 3" in app.rows[3]


async def test_a_click_on_a_link_tells_where_it_leads() -> None:
    app = TranscriptApp((), (text_block("see [docs](https://x.y/z)"),))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(app.transcript, offset=(9, 0))
        await pilot.pause()
        assert app.opened == ["https://x.y/z"]


async def test_clocks_tick_and_nothing_else_moves() -> None:
    app = TranscriptApp((), (text_block("before"), tool_block(status="running")))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert app.rows[2].startswith("  ● bash")
        app.now = 12.0
        app.transcript.tick()
        assert app.rows[2].startswith("  • bash")
        assert app.rows[2][:76].endswith("12 s")
        app.transcript.tick()
        assert app.rows[2].startswith("  ● bash")
        app.transcript.reduced_motion = True
        app.transcript.tick()
        assert app.rows[2].startswith("  ● bash")


async def test_a_resize_wraps_anew_and_keeps_the_place() -> None:
    app = TranscriptApp(long_session(200))
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.pause()
        app.transcript.reveal(20)
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert app.row_with("question 20") <= 3
        assert all(len(row) <= 60 for row in app.rows)


async def test_out_of_view_heights_follow_a_new_width_and_a_folding_in_a_while() -> None:
    app, anew = (TranscriptApp(long_session(1_200), (done_block(2_000),)) for _ in range(2))
    async with app.run_test(size=SMALL) as pilot:
        document = app.transcript.document
        app.transcript.action_page_up()
        await pilot.resize_terminal(60, 20)
        app.transcript.next_folding()
        assert document.outdated
        app.transcript.action_scroll_home()
        await until(lambda: not document.outdated)
        app.transcript.next_folding()
        app.transcript.next_folding()
        await until(lambda: not document.outdated)
        async with anew.run_test(size=(60, 20)) as other:
            await other.pause()
            both = (document, anew.transcript.document)
            await until(lambda: not both[1].outdated)
            assert len({each.top(1_000) - each.top(100) for each in both}) == 1


async def test_another_look_redraws_everything() -> None:
    app = TranscriptApp((), incomplete_turn())
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.pause()
        plain = look(theme="keen-light", glyphs=ASCII)
        app.transcript.set_look(plain.styles, plain.glyphs)
        assert all(row.isascii() for row in app.rows)
        segment = next(iter(app.transcript.render_line(0)))
        assert segment.style is not None
        assert segment.style.bgcolor == plain.styles("text", on="background").bgcolor


async def test_without_colour_and_unicode_everything_is_still_said() -> None:
    app = TranscriptApp((), incomplete_turn(), glyphs=ASCII, colour=False)
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.pause()
        assert "| ! Turn incomplete   no connection to the model server after 41 s" in app.rows
        chip = next(
            segment
            for segment in app.transcript.render_line(app.row_with("ctrl+r"))
            if "ctrl+r" in segment.text
        )
        assert chip.style is not None and chip.style.reverse


async def test_ten_thousand_blocks_are_drawn_only_where_they_are_seen() -> None:
    past = long_session(10_000)
    app = TranscriptApp(past)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        document = app.transcript.document
        assert sum(entry.lines is not None for entry in document.entries) < 100
        live = (UserBlock(turn=9_999, text="one more"),)
        app.show(past, live)
        assert app.rows[-1] == "  › one more"
        app.transcript.action_scroll_home()
        assert "question 1" in app.rows[0]
        app.transcript.reveal(1_234)
        assert "question 1234" in app.rows[3]
        assert sum(entry.lines is not None for entry in document.entries) < 300


async def test_the_view_and_the_cursor_stay_where_they_are_when_the_whole_past_comes_above() -> None:
    whole = Trail(long_session(400))
    app = TranscriptApp(whole[360:392], whole[392:])
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("tab", "up", "up", "pageup")
        chosen, before = app.transcript.cursor.block, app.rows
        assert chosen is not None and not app.transcript.viewport.following
        app.transcript.document.prepare(whole)
        assert app.rows == before
        app.transcript.show(whole, ())
        assert app.rows[:-1] == before[:-1]
        assert app.transcript.cursor.block is chosen
        await pilot.press("home")
        assert "question 1" in app.rows[0]


async def test_drawn_rows_are_given_up_when_there_are_too_many() -> None:
    app = TranscriptApp(long_session(4_000))
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        document = app.transcript.document
        while app.transcript.scroll_offset.y:
            app.transcript.action_page_up()
        drawn = sum(len(entry.lines) for entry in document.entries if entry.lines is not None)
        assert drawn <= LINES_KEPT
        assert "question 1" in app.rows[0]


async def test_an_unchanged_state_changes_nothing() -> None:
    past, live = long_session(40), incomplete_turn(99)
    app = TranscriptApp(past, live)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        before = [entry.lines for entry in app.transcript.document.entries]
        app.show(past, live)
        after = [entry.lines for entry in app.transcript.document.entries]
        assert all(old is new for old, new in zip(before, after, strict=True))


async def test_only_what_changed_is_drawn_anew() -> None:
    user, answer = UserBlock(turn=1, text="go"), text_block("so", open=True)
    app = TranscriptApp((), (user, answer))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        lines = app.transcript.document.entries[0].lines
        longer: TextBlock = replace(answer, text="so far")
        app.show((), (user, longer))
        assert app.transcript.document.entries[0].lines is lines
        assert app.rows[2] == "    so far▌"


async def test_what_waited_at_the_end_folds_when_the_turn_goes_on_below() -> None:
    turn = incomplete_turn()
    app = TranscriptApp((), turn)
    async with app.run_test(size=(80, 50)) as pilot:
        await pilot.pause()
        assert any("ctrl+r" in row for row in app.rows)
        app.show(turn, (UserBlock(turn=2, text="and now this"),))
        assert not any("ctrl+r" in row for row in app.rows)
        assert any("no connection after 41 s   4 calls kept" in row for row in app.rows)
        app.show((), turn)
        assert any("ctrl+r" in row for row in app.rows)
