"""What is shown at which size, and that everything comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.strip import Strip
from textual.timer import Timer

from keen_tui.domain.events import TextDelta, ToolOutput
from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.terminal import gc_policy
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget
from keen_tui.memory.pending import PendingState
from tests.support import story
from tests.support.fake_models import ACME, FakeModels
from tests.support.screen import THEMES, running_timers
from tests.support.workspace import Driver, workspace

WAITING = [*story.three_turns(), *story.discount_turn(), *story.edit(4, "d4"), story.incomplete(4)]


async def resize(driver: Driver, width: int, height: int) -> None:
    await driver.pilot.resize_terminal(width, height)
    await driver.until(lambda: len(driver.rows()) == height)
    await driver.pilot.pause()


async def test_at_120_columns_the_panels_stand_beside_the_conversation(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*WAITING)
        rows = driver.rows()
        assert rows[0].startswith("  keen   ")
        assert rows[0].rstrip().endswith("qwen3-coder  ollama")
        assert rows[2][80] == "│"
        assert rows[2][82:].startswith("Activity")
        assert rows[-1].startswith("  ask")
        assert "pending: 4 calls" in rows[-1]
        assert "Or type a new instruction; the finished work is kept" in rows[-3]


async def test_at_200_columns_the_panels_have_52(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(200, 60)) as driver:
        await driver.play(*WAITING)
        assert driver.screen.sidebar.size.width == 52
        assert driver.shows("all turns")


async def test_at_80_columns_a_strip_tells_what_the_panels_would(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*WAITING)
        assert not driver.screen.sidebar.display
        assert driver.shows("turn 4   4 calls   41 s")
        assert driver.shows("memory ±1 ✗1   ctrl+b panels")


async def test_at_80_columns_the_panels_lie_over_the_conversation(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*WAITING)
        width = driver.screen.transcript.size.width
        await driver.press("ctrl+b")
        await driver.until_shown("Activity")
        assert driver.screen.sidebar.region.x == 40
        assert driver.screen.transcript.size.width == width
        await driver.press("ctrl+b")
        await driver.until(lambda: not driver.shows("Activity"))


async def test_low_terminals_give_up_the_header_and_the_blank_rows_of_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(50, 12)) as driver:
        await driver.play(*WAITING)
        assert not driver.shows("keen   ")
        assert driver.screen.composer.size.height == 1
        assert driver.shows("pending")


async def test_a_tiny_terminal_says_so_and_nothing_else(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(20, 5)) as driver:
        await driver.play(*WAITING)
        assert [row.strip() for row in driver.rows() if row.strip()] == ["too small", "40 x 10 at least"]


@pytest.mark.parametrize("keys", [("f1",), ("f2",), ("ctrl+p",), (*"/usage", "enter"), (*"/theme", "enter")])
async def test_a_page_says_that_the_terminal_is_too_small_and_comes_back_with_what_was_typed(
    tmp_path: Path, keys: tuple[str, ...]
) -> None:
    def drawn() -> list[str]:
        return [row.strip() for row in driver.rows() if row.strip()]

    async with workspace(tmp_path, models=FakeModels(ACME.models[0]), size=(80, 24)) as driver:
        await driver.press(*keys)
        await driver.until(lambda: driver.app.screen is not driver.screen)
        await driver.type("m")
        await driver.pilot.pause()
        before, focused = driver.rows(), driver.app.focused
        await resize(driver, 30, 8)
        await driver.until(lambda: drawn() == ["too small", "40 x 10 at least"])
        await resize(driver, 80, 24)
        await driver.until(lambda: driver.rows() == before)
        assert driver.app.focused is focused
        await resize(driver, 30, 8)
        await driver.press("escape", "escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.press(*keys)
        await driver.until(lambda: driver.app.screen is not driver.screen)
        await driver.until(lambda: drawn() == ["too small", "40 x 10 at least"])


async def test_everything_comes_back_on_resize(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*WAITING)
        await driver.type("draft")
        before = driver.rows()
        for size in ((80, 24), (50, 12), (20, 5), (1, 1), (200, 60), (120, 40)):
            await resize(driver, *size)
        await driver.until(lambda: driver.rows() == before)
        assert driver.screen.prompt.has_focus


async def test_the_end_is_followed_through_every_resize(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        words = "A sentence of some length, which is broken into rows. " * 4 + "\n\n"
        await driver.play(story.started(1, "go"), *[TextDelta(turn=1, step=1, text=words)] * 30)
        for size in ((44, 12), (20, 5), (120, 36), (44, 12), (30, 8), (120, 36), (80, 24)):
            await resize(driver, *size)
            await driver.play(TextDelta(turn=1, step=1, text=words))
            assert driver.screen.transcript.viewport.following
        await driver.until(lambda: driver.screen.transcript.viewport.below == 0)


async def test_a_question_can_be_read_and_answered_in_a_low_terminal(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(60, 14)) as driver:
        driver.session.running = True
        await driver.play(story.started(1, "go"), story.tool_started(1, "c", "edit_file", "src/cart.py"))
        await driver.play(story.approval(1, "c"))
        assert driver.shows("Change src/cart.py?")
        assert driver.shows("1  yes, this once")
        assert driver.shows("4  no, and stop the turn")
        assert driver.shows("31")


async def test_the_composer_grows_with_its_text_up_to_ten_rows(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        assert driver.screen.composer.size.height == 3
        for _ in range(4):
            await driver.press("ctrl+j")
        await driver.until(lambda: driver.screen.composer.size.height == 7)
        for _ in range(20):
            await driver.press("ctrl+j")
        await driver.until(lambda: driver.screen.composer.size.height == 12)


async def test_the_greeting_goes_with_the_first_message_and_the_guide_stays(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.app.show_guide("Press enter to send the task.")
        await driver.until_shown("Say what you want done in this folder.")
        await driver.until_shown("Press enter to send the task.")
        await driver.play(story.started(1, "go"))
        assert not driver.shows("Say what you want done in this folder.")
        assert driver.shows("Press enter to send the task.")
        driver.app.show_guide("")
        await driver.until(lambda: not driver.shows("Press enter"))


async def test_no_timer_runs_while_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc_policy, "REST_SECONDS", 0.01)
    async with workspace(tmp_path) as driver:
        assert running_timers(driver.screen) == []
        await driver.play(story.started(1, "go"))
        assert running_timers(driver.screen)
        await driver.play(story.done(1))
        await driver.until(lambda: running_timers(driver.screen) == [])


async def test_garbage_is_collected_some_time_after_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[str] = []
    monkeypatch.setattr(gc_policy, "REST_SECONDS", 0.01)
    monkeypatch.setattr(gc_policy, "collect", lambda: collected.append("all"))
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"))
        await driver.play(story.done(1))
        await driver.until(lambda: running_timers(driver.screen) == [])
        assert collected == ["all"]


async def test_young_garbage_is_looked_for_after_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    async with workspace(tmp_path) as driver:
        await driver.until(lambda: running_timers(driver.screen) == [])
        monkeypatch.setattr(gc_policy, "collect_young", lambda: looks.append("young"))
        await driver.press("x")
        await driver.until(lambda: bool(looks))


@pytest.mark.parametrize("done", ["key", "mouse"])
async def test_while_somebody_is_there_no_garbage_is_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: str
) -> None:
    put_off: list[Timer] = []
    monkeypatch.setattr(Timer, "reset", lambda timer: put_off.append(timer))
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"))
        await driver.play(story.done(1))
        (resting,) = running_timers(driver.screen)
        if done == "key":
            await driver.press("x")
        else:
            await driver.pilot.hover(offset=(5, 5))
        await driver.until(lambda: resting in put_off)


async def test_a_clock_ticks_while_a_turn_runs(tmp_path: Path) -> None:
    now = 100.0
    async with workspace(tmp_path, clock=lambda: now) as driver:
        await driver.play(story.started(1, "go"))
        now += 100.0
        await driver.until_shown("turn 1   1:40")


@pytest.mark.parametrize("theme", ["keen-dark", "keen-light", "keen-contrast", "keen-safe", "keen-ansi16"])
async def test_every_theme_and_the_ascii_signs_draw_the_same_words(tmp_path: Path, theme: str) -> None:
    async with workspace(tmp_path, settings=UiSettings(theme=theme, glyphs="ascii")) as driver:
        driver.session.pending = PendingState(calls=4)
        await driver.play(*WAITING)
        page = "\n".join(driver.rows())
        assert "! Turn incomplete" in page
        assert "! pending: 4 calls" in page
        assert "> Or type" in page
        assert page.isascii()


@pytest.mark.parametrize("theme", ["keen-dark", "keen-light", "keen-contrast", "keen-safe"])
async def test_everything_stands_on_the_grounds_of_the_theme(tmp_path: Path, theme: str) -> None:
    grounds = THEMES[theme].colours
    async with workspace(tmp_path, settings=UiSettings(theme=theme)) as driver:
        screen = driver.screen
        assert screen.styles.background.hex == grounds["background"].upper()
        assert screen.composer.styles.background.hex == grounds["panel"].upper()
        assert screen.transcript.styles.background.hex == grounds["background"].upper()


async def test_nothing_drawn_can_act_on_the_terminal(tmp_path: Path) -> None:
    evil = "a\x1b]0;owned\x07b\x9b31mc\u202ed\r\n"
    async with workspace(tmp_path) as driver:
        driver.screen.notice.text = evil
        await driver.play(
            story.started(1, evil), *story.read(1, "a", evil, 3), *story.failing_bash(1, "b", evil)
        )
        page = "".join(driver.rows())
        assert not any(character < " " or "\x7f" <= character <= "\x9f" for character in page)
        assert "\u202e" not in page


class Careless(StripWidget):
    """A pane that draws what it was given."""

    DEFAULT_CSS = "Careless { dock: top; height: 1; }"

    def strips(self) -> Iterator[Strip]:
        yield Strip([Segment("a\x1b]0;owned\x07b\x9bc")])


async def test_what_a_pane_forgets_to_clean_is_stopped_at_the_gate(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.screen.mount(Careless())
        await driver.until_shown("a]0;ownedbc")


async def test_an_unknown_theme_is_said_and_the_default_is_used(tmp_path: Path) -> None:
    async with workspace(tmp_path, settings=UiSettings(theme="nope")) as driver:
        await driver.until_shown("There is no theme 'nope'")
        assert driver.app.theme == "keen-dark"


async def test_a_pane_that_fails_to_draw_does_not_stop_the_others(tmp_path: Path) -> None:
    def broken(state: object) -> None:
        raise RuntimeError("a bug in a pane")

    async with workspace(tmp_path) as driver:
        whole = driver.screen.strip.show
        driver.screen.strip.show = broken  # type: ignore[method-assign]
        driver.session.publish(story.started(1, "go"))
        await driver.until(lambda: driver.screen.state.running)
        driver.screen.strip.show = whole  # type: ignore[method-assign]
        await driver.play(story.done(1))
        await driver.until_shown("turn 1 done")


async def test_activity_has_the_room_for_output_that_turn_memory_does_not_need(tmp_path: Path) -> None:
    lines = "".join(f"round {number}\n" for number in range(12))
    async with workspace(tmp_path) as driver:
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "bash", "make"),
            ToolOutput(turn=1, id="c", text=lines, lines=12, bytes=len(lines)),
        )
        await driver.until_shown("12 lines")
        assert sum("round 11" in row for row in driver.rows()) == 1, "the transcript has it"
        assert not any("round 11" in row[81:] for row in driver.rows())
        await driver.press("f4")
        await driver.until(lambda: sum("┊ round" in row[81:] for row in driver.rows()) == 8)


async def test_activity_shows_the_output_that_the_transcript_has_out_of_view(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(
            *story.three_turns(),
            story.started(4, "go"),
            story.tool_started(4, "c", "bash", "make"),
            ToolOutput(turn=4, id="c", text="the newest line\n", lines=1, bytes=16),
        )
        await driver.until_shown("1 line   ")
        assert not any("the newest line" in row[81:] for row in driver.rows())
        await driver.press("ctrl+home")
        await driver.until(lambda: any("the newest line" in row[81:] for row in driver.rows()))
        await driver.press("ctrl+end")
        await driver.until(lambda: not any("the newest line" in row[81:] for row in driver.rows()))
