"""What a new block costs, in a process of its own: `python -m tests.bench.frames MESSAGES` prints it as JSON.

The app runs as Textual's own tests run it, without a terminal; all else is real, the bytes for the terminal
included. The events come from a session that only publishes.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from keen_tui.events import SessionOpened, SessionRestored, ToolFinished, ToolStarted, TurnStarted
from keen_tui.messages import ToolResult
from tests.bench.long_session import MESSAGES_A_TURN, session_events
from tests.support.workspace import Driver, workspace

APPENDED = 60
_QUIET, _NOTHING = 0.08, 0.000_5
"""At rest is an event loop that used less than so many seconds of CPU within so many seconds."""


def appending(messages: int) -> list[float]:
    """Milliseconds of CPU for each block that is appended to so many messages."""
    command = (sys.executable, "-m", "tests.bench.frames", str(messages))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


async def _appended(messages: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        async with workspace(Path(folder)) as driver:
            await _open(driver, messages)
            turn = messages // MESSAGES_A_TURN + 1
            driver.session.publish(TurnStarted(turn=turn, attempt=1, text="go on"))
            await _rest()
            return [await _append(driver, turn, number) for number in range(APPENDED)]


async def _open(driver: Driver, messages: int) -> None:
    past = [event for _, event in session_events(messages)]
    driver.session.publish(SessionOpened(id="s", restoring=True), *past, SessionRestored())
    await driver.until_shown(f"answer {messages // MESSAGES_A_TURN}")
    await asyncio.sleep(2.0)  # what is loaded behind the first paint
    await _rest()


async def _rest() -> None:
    """Wait until the frame is painted and nothing goes on any more."""
    spent = 1.0
    while spent > _NOTHING:
        before = time.thread_time()
        await asyncio.sleep(_QUIET)
        spent = time.thread_time() - before


async def _append(driver: Driver, turn: int, number: int) -> float:
    """CPU time of the event loop's thread from the event to the end of its frame."""
    call = {"turn": turn, "step": 1, "id": f"new{number}", "name": "read_file", "target": "a.py"}
    result = ToolResult(text="one\ntwo\n", summary="2 lines")
    before = time.thread_time()
    driver.session.publish(
        ToolStarted(**call, arguments={}),  # type: ignore[arg-type]
        ToolFinished(**call, arguments={}, result=result, seconds=0.1),  # type: ignore[arg-type]
    )
    await _rest()
    return (time.thread_time() - before) * 1000


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_appended(int(sys.argv[1])))))
