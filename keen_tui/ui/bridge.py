"""The one worker that reads the bus: it folds batches of events into the state and has it drawn."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence

from keen_tui.events import Event
from keen_tui.ui.reducer import apply
from keen_tui.ui.state import UiState

FRAME_SECONDS = 1 / 30
_SHARE_OF_TIME = 3
"""Drawing gets at most one part of its own time in this many, so that keys are always answered."""

_log = logging.getLogger(__name__)


async def follow(
    batches: AsyncIterator[Sequence[Event]],
    state: UiState,
    show: Callable[[UiState], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Draw `state` as the events change it, until the bus is closed.

    The first event after a pause is drawn at once; while they keep coming, about 30 times a second.
    An event that can't be folded or a state that can't be drawn is logged, and it goes on.
    """
    async for batch in batches:
        state = await _folded(state, batch, clock)
        started = time.thread_time()
        try:
            show(state)
        except Exception:
            _log.exception("the screen could not be drawn")
        spent = time.thread_time() - started
        await asyncio.sleep(max(FRAME_SECONDS, _SHARE_OF_TIME * spent))


async def _folded(state: UiState, batch: Sequence[Event], clock: Callable[[], float]) -> UiState:
    """The state after the batch. The past of a long session takes a while: keys get their turn meanwhile."""
    now = since = clock()
    for event in batch:
        if clock() - since > FRAME_SECONDS:
            await asyncio.sleep(0)
            since = clock()
        try:
            state = apply(state, event, now)
        except Exception:
            _log.exception("an event could not be shown: %s", type(event).__name__)
    return state
