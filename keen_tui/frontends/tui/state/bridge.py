"""The one worker that reads the bus: it folds batches of events into the state and has it drawn."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from msgspec.structs import replace

from keen_tui.domain.events import Event, ReasoningDelta, TextDelta
from keen_tui.frontends.tui.state.reducer import apply
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal.background import SLICE_SECONDS

FRAME_SECONDS = 1 / 30
CHARACTERS_AT_ONCE = 1_000
"""Characters of new text that are prepared or drawn at a time, so that keys don't wait for a long reply."""

_SHARE_OF_TIME = 3
"""Drawing gets at most one part of its own time in this many, so that keys are always answered."""

_log = logging.getLogger(__name__)


async def follow(
    batches: AsyncIterator[Sequence[Event]],
    state: UiState,
    show: Callable[[UiState], None],
    clock: Callable[[], float] = time.monotonic,
    prepare: Callable[[UiState], bool] = lambda _: False,
) -> None:
    """Draw `state` as the events change it, until the bus is closed.

    The first event after a pause is drawn at once; while they keep coming, about 30 times a second. A batch
    with much text is split. Only its last state must be drawn; for those before it `prepare` may do the work
    without painting. If `prepare` returns False, the state is drawn.

    An event that can't be folded or a state that can't be drawn is logged, and it goes on.
    """
    async for batch in batches:
        async for folded, more in _folded(state, batch, clock):
            state = folded
            started = time.thread_time()
            try:
                if not (more and prepare(state)):
                    show(state)
            except Exception:
                _log.exception("the screen could not be drawn")
            spent = time.thread_time() - started
            # Of a past that is being restored nothing is drawn: it goes on as soon as keys were answered.
            at_once = more or state.restoring
            await asyncio.sleep(0 if at_once else max(FRAME_SECONDS, _SHARE_OF_TIME * spent))


async def _folded(
    state: UiState, batch: Sequence[Event], clock: Callable[[], float]
) -> AsyncIterator[tuple[UiState, bool]]:
    """The state after the batch and, with much text or while a long past is restored, several times on the
    way there: then it says that there is more."""
    now = since = clock()
    characters = 0
    pieces = _in_pieces(batch, lambda: state.restoring)
    for event in pieces:
        if clock() - since > SLICE_SECONDS:
            if state.restoring:
                yield state, True
            else:
                await asyncio.sleep(0)
            since = clock()
        if characters >= CHARACTERS_AT_ONCE and not state.restoring:
            yield state, True
            characters = 0
        if isinstance(event, TextDelta | ReasoningDelta):
            characters += len(event.text)
        try:
            state = apply(state, event, now)
        except Exception:
            _log.exception("an event could not be shown: %s", type(event).__name__)
    yield state, False


def _in_pieces(batch: Sequence[Event], is_past: Callable[[], bool]) -> Iterator[Event]:
    """The events, a long delta as several; whole if it is a past's, which is not drawn: pieces put together
    again would be another copy of its text."""
    for event in batch:
        if (
            isinstance(event, TextDelta | ReasoningDelta)
            and len(event.text) > CHARACTERS_AT_ONCE
            and not is_past()
        ):
            for start in range(0, len(event.text), CHARACTERS_AT_ONCE):
                yield replace(event, text=event.text[start : start + CHARACTERS_AT_ONCE])
        else:
            yield event
