"""The cost of a new block: `python -P frames.py CHECKOUT SESSION_FILE WORDS CALLS` prints milliseconds as
JSON.

The app runs like in the tests of CHECKOUT, without a terminal; everything else is real, including the bytes
for the terminal. The past comes from the session file, which ends with WORDS; the new events come from a
session that only publishes. The newest turn has made CALLS calls before.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keen_tui.domain.events import Event
    from tests.support.workspace import Driver

APPENDED = 60
_QUIET, _NOTHING = 0.08, 0.000_5
"""An event loop is at rest if it used less than the second number of CPU seconds within the first number of
seconds."""

_TURN = 1_000_000


async def main(file: Path, words: str, calls: int) -> list[float]:
    """Milliseconds of CPU for each block that is appended."""
    from keen_tui.domain.events import TurnStarted
    from tests.support.workspace import workspace

    with tempfile.TemporaryDirectory() as folder:
        async with workspace(Path(folder)) as driver:
            await _open(driver, file, words)
            driver.session.publish(TurnStarted(turn=_TURN, attempt=1, text="go on"))
            await _rest()
            for number in range(calls):
                driver.session.publish(*_call(number))
                await asyncio.sleep(0)
            await _rest()
            return [await _append(driver, calls + number) for number in range(APPENDED)]


async def _open(driver: Driver, file: Path, words: str) -> None:
    from keen_tui.domain.events import SessionOpened, SessionRestored
    from keen_tui.storage.reading import read_session

    past = [record.event for record in read_session(file).records]
    driver.session.publish(SessionOpened(id="s", restoring=True), *past, SessionRestored())
    await driver.until_shown(words)
    await asyncio.sleep(2.0)  # modules that are loaded after the first paint
    await _rest()


async def _append(driver: Driver, number: int) -> float:
    """CPU time of the event loop's thread from the events to the end of their frame."""
    before = time.thread_time()
    driver.session.publish(*_call(number))
    await _rest()
    return (time.thread_time() - before) * 1000


def _call(number: int) -> Sequence[Event]:
    """A call of the newest turn."""
    from keen_tui.domain.events import ToolFinished, ToolStarted
    from keen_tui.domain.messages import ToolResult

    call = {"turn": _TURN, "step": 1, "id": f"new{number}", "name": "read_file", "target": f"a{number}.py"}
    result = ToolResult(text="one\ntwo\n", summary="2 lines")
    return (
        ToolStarted(**call, arguments={}),  # type: ignore[arg-type]
        ToolFinished(**call, arguments={}, result=result, seconds=0.1),  # type: ignore[arg-type]
    )


async def _rest() -> None:
    """Wait until the frame is painted and the loop is at rest."""
    spent = 1.0
    while spent > _NOTHING:
        before = time.thread_time()
        await asyncio.sleep(_QUIET)
        spent = time.thread_time() - before


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(asyncio.run(main(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))))
