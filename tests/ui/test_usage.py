"""What the session has used, as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.events import Compacted, Event, ReviewUsed, SessionOpened, Usage
from keen_tui.domain.messages import TokenUsage, TurnMemory
from keen_tui.frontends.tui.app import UiSettings
from tests.support import story
from tests.support.workspace import Driver, workspace


def used(
    turn: int,
    sent: int,
    received: int,
    cached: int = 0,
    cost: float | None = 0.01,
    searches: int | None = None,
) -> Usage:
    tokens = TokenUsage(
        input_tokens=sent, output_tokens=received, cached_tokens=cached, web_searches=searches
    )
    return Usage(turn=turn, step=1, tokens=tokens, cost=cost)


def turn(number: int, *steps: Usage) -> list[Event]:
    return [story.started(number, f"task {number}"), *steps, story.done(number)]


def summed(turn: int, *, before: int, after: int) -> Compacted:
    return Compacted(
        turn=turn,
        turns=1,
        summary="All is well.",
        turn_memory=TurnMemory(),
        bytes_before=before,
        bytes_after=after,
        seconds=1.0,
    )


async def open_usage(driver: Driver, command: str = "/usage") -> None:
    await driver.type(command)
    await driver.press("enter")
    await driver.until_shown("esc back")


def figures(driver: Driver, name: str) -> list[str]:
    """What was new, from the cache, with the whole history, received, and the cost."""
    row = driver.rows()[driver.row_with(name)]
    return row.rstrip().removesuffix("5.0 s").split()[-5:]


@pytest.mark.parametrize("command", ["/usage", "/cost"])
async def test_each_turn_and_all_of_them_have_their_tokens_and_cost(tmp_path: Path, command: str) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20), used(1, 9_500, 30, 900)), *turn(2, used(2, 12_345, 7)))
        await open_usage(driver, command)
        assert figures(driver, "1   task 1") == ["9,600", "900", "10,500", "50", "$0.02"]
        assert figures(driver, "2   task 2") == ["12,345", "0", "21,845", "7", "$0.01"]
        assert figures(driver, "    all ") == ["21,945", "900", "32,345", "57", "$0.03"]
        assert driver.shows("Sent: 22,845 tokens, 71 % of the whole history (32,345).")
        assert driver.rows()[driver.row_with("2   task 2")].rstrip().endswith("5.0 s")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_what_summaries_took_is_told_apart(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20)), used(0, 500, 100))
        await open_usage(driver)
        assert figures(driver, "outside turns") == ["500", "0", "500", "100", "$0.01"]


def review_used(sent: int, received: int) -> ReviewUsed:
    usage = used(0, sent, received)
    return ReviewUsed(step=usage.step, tokens=usage.tokens, cost=usage.cost)


async def test_what_a_review_took_counts_in_the_sums(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20)), review_used(500, 100))
        await open_usage(driver)
        assert figures(driver, "outside turns") == ["500", "0", "500", "100", "$0.01"]
        assert figures(driver, "    all ") == ["1,500", "0", "1,500", "120", "$0.02"]


async def test_a_cost_that_nobody_knows_is_unknown_and_no_usage_is_a_dash(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20, cost=None)), *turn(2))
        await open_usage(driver)
        assert figures(driver, "    1  ━━") == ["1k", "0", "1k", "20", "unknown"]
        assert figures(driver, "    2  ") == ["–", "–", "–", "–", "–"]
        assert figures(driver, "    all ")[-1] == "unknown"


async def test_many_turns_scroll_and_the_total_stays(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(100, 24)) as driver:
        for number in range(1, 41):
            await driver.play(*turn(number, used(number, 10, 1)))
        await open_usage(driver)
        assert driver.shows("40   task 40") and not driver.shows(" 1   task 1 ")
        await driver.press("home")
        await driver.until_shown(" 1   task 1 ")
        assert driver.shows("turns 1 to 13 of 40")
        assert figures(driver, "    all ")[0] == "400"


def bar(driver: Driver, number: int) -> str:
    """The bar of a turn in a narrow terminal."""
    return driver.rows()[driver.row_with(f"    {number}  ")].split()[1]


@pytest.mark.parametrize(("glyphs", "signs"), [("unicode", "━╍─"), ("ascii", "=:-")])
async def test_the_parts_of_a_bar_differ_in_their_signs(tmp_path: Path, glyphs: str, signs: str) -> None:
    settings = UiSettings(theme="keen-ansi16", glyphs=glyphs)
    async with workspace(tmp_path, size=(80, 24), settings=settings) as driver:
        await driver.play(*turn(1, used(1, 9_500, 20)), *turn(2, used(2, 9_500, 20, cached=4_750)))
        await open_usage(driver)
        new, cached, left_out = tuple(signs)
        assert set(bar(driver, 1)) == {new}
        assert bar(driver, 2) == "".join(sorted(bar(driver, 2), key=signs.index))
        counts = [bar(driver, 2).count(sign) for sign in signs]
        assert counts[0] + counts[1] == len(bar(driver, 1)) and abs(counts[0] - counts[1]) <= 1
        assert counts[2] == len(bar(driver, 1)), "as much was left out as was sent"
        legend = driver.rows()[driver.row_with("from cache")]
        assert legend.split() == [new * 2, "new", cached * 2, "from", "cache", left_out * 2, "left", "out"]


async def test_web_searches_are_counted_below_the_total(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*turn(1, used(1, 118_234, 20, searches=3)))
        await open_usage(driver)
        assert driver.shows("3 web") and driver.shows("searches, not in the cost.")


async def test_a_small_terminal_shows_turns_bars_and_total(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(60, 12)) as driver:
        for number in range(1, 10):
            await driver.play(*turn(number, used(number, 1_000, 1)))
        await open_usage(driver)
        assert driver.shows("turns 5 to 9 of 9") and driver.shows("% of the whole history")
        assert all(len(row) <= 60 for row in driver.rows())
        await driver.press("home")
        await driver.until_shown("turns 1 to 5 of 9")


async def test_a_summary_and_another_session_change_what_was_left_out(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20)), summed(1, before=8_000, after=4_000))
        await driver.play(*turn(2, used(2, 1_000, 20)))
        await open_usage(driver)
        assert figures(driver, "2   task 2")[2] == "11,500", "9,500 of turn 1 and 1,000 of its summary"
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.play(SessionOpened(id="another"), *turn(1, used(1, 1_000, 20)))
        await open_usage(driver)
        assert figures(driver, "1   task 1")[2] == "1,000"
