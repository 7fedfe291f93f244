"""The list of saved sessions, and its keys."""

from __future__ import annotations

from keen_tui.domain.reports import SearchHit
from keen_tui.memory.pending import PendingState, PendingTrace
from tests.support.fake_history import sessions
from tests.support.workspace import Driver

LAST_ROW = "Release notes"
PENDING = PendingState(traces=(PendingTrace(1, ({"role": "user"},)),), calls=2)


async def opened_list(driver: Driver) -> None:
    await driver.press("f3")
    await driver.until_shown(LAST_ROW)
    await driver.until_shown("esc back")


async def command(driver: Driver, text: str) -> None:
    driver.screen.prompt.write(text)
    await driver.press("enter")


async def answer(driver: Driver, number: str) -> None:
    await driver.until(lambda: not driver.screen.question_pane.guarded)
    await driver.press(number, "enter")


def on_workspace(driver: Driver) -> bool:
    return driver.app.screen is driver.screen


def places() -> tuple[SearchHit, ...]:
    by_id = {each.id: each for each in sessions()}
    return (
        SearchHit(session=by_id["s4"], turn=3, before="put the ", words="discount", after=" first"),
        SearchHit(session=by_id["s4"], turn=11, before="round the ", words="discount", after=" once"),
        SearchHit(session=by_id["p1"], turn=2, before="no ", words="discount", after=" here"),
    )


# The list
