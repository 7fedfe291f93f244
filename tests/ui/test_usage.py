"""What the session has used, as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.events import Event, Usage
from keen_tui.domain.messages import TokenUsage
from tests.support import story
from tests.support.workspace import Driver, workspace


def used(turn: int, sent: int, received: int, cached: int = 0, cost: float | None = 0.01) -> Usage:
    tokens = TokenUsage(input_tokens=sent, output_tokens=received, cached_tokens=cached)
    return Usage(turn=turn, step=1, tokens=tokens, cost=cost)


def turn(number: int, *steps: Usage) -> list[Event]:
    return [story.started(number, f"task {number}"), *steps, story.done(number)]


async def open_usage(driver: Driver, command: str = "/usage") -> None:
    await driver.type(command)
    await driver.press("enter")
    await driver.until_shown("esc back")


def figures(driver: Driver, name: str) -> list[str]:
    return driver.rows()[driver.row_with(name)].split()[-4:]


@pytest.mark.parametrize("command", ["/usage", "/cost"])
async def test_each_turn_and_all_of_them_have_their_tokens_and_cost(tmp_path: Path, command: str) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20), used(1, 9_500, 30, 900)), *turn(2, used(2, 12_345, 7)))
        await open_usage(driver, command)
        assert figures(driver, "1   task 1") == ["10,500", "900", "50", "$0.02"]
        assert figures(driver, "2   task 2") == ["12,345", "0", "7", "$0.01"]
        assert figures(driver, "    all ") == ["22,845", "900", "57", "$0.03"]
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_what_summaries_took_is_told_apart(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20)), used(0, 500, 100))
        await open_usage(driver)
        assert figures(driver, "summaries, title") == ["500", "0", "100", "$0.01"]


async def test_a_cost_that_nobody_knows_is_unknown_and_no_usage_is_a_dash(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*turn(1, used(1, 1_000, 20, cost=None)), *turn(2))
        await open_usage(driver)
        assert figures(driver, "1   task 1") == ["1,000", "0", "20", "unknown"]
        assert figures(driver, "2   task 2") == ["–", "–", "–", "–"]
        assert figures(driver, "    all ")[-1] == "unknown"


async def test_many_turns_scroll_and_the_total_stays(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        for number in range(1, 41):
            await driver.play(*turn(number, used(number, 10, 1)))
        await open_usage(driver)
        assert driver.shows("40   task 40") and not driver.shows(" 1   task 1 ")
        await driver.press("home")
        await driver.until_shown(" 1   task 1 ")
        assert driver.shows("turns 1 to 15 of 40")
        assert figures(driver, "    all ")[0] == "400"
