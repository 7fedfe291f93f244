"""How full the context window is: with the running turn, or between turns with the next request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable

from keen_tui.agent.turn.request_size import Measured, RequestSize, measured_request
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import (
    Compacted,
    ContextMeasured,
    Event,
    MemoryEdited,
    MessageTakenBack,
    ModelChanged,
    PolicyChanged,
    SessionOpened,
    SessionRestored,
    ShellFinished,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnUndone,
    Usage,
)
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.policies import MemoryPolicy

log = logging.getLogger(__name__)

_CHANGES_NEXT_REQUEST = (
    Compacted,
    MemoryEdited,
    MessageTakenBack,
    ModelChanged,
    PolicyChanged,
    SessionOpened,
    SessionRestored,
    ShellFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnUndone,
)


class ContextMeter:
    """Publishes `ContextMeasured`. It does nothing until `start`, so that a front end without a meter pays
    nothing.

    Args:
        size: how many tokens a request is.
        next_request: measures the next request in a thread; None while something runs.
        publish: where the events go.
        beside: runs a coroutine beside everything else.
    """

    def __init__(
        self,
        size: RequestSize,
        next_request: Callable[[], Callable[[], Measured] | None],
        publish: Callable[[Event], None],
        beside: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self.size = size
        self._next_request = next_request
        self._publish = publish
        self._beside = beside
        self._is_on = False
        self._is_measuring = False
        self._is_stale = False
        self._reached = 0

    def start(self) -> None:
        """Publish from now on, beginning with the next request."""
        self._is_on = True
        self._refresh()

    async def measure_first(
        self, past: Past, traces: Iterable[PendingTrace], policy: MemoryPolicy, setup: TurnSetup
    ) -> int:
        """Measure the first request of a turn before it is sent, in a thread, because a long session takes a
        while. Returns its tokens."""
        measured = await asyncio.to_thread(measured_request, past, traces, policy, setup)
        self.size.expect(measured)
        tokens = self.size.tokens(measured)
        self._reach(tokens)
        return tokens

    def note(self, event: Event) -> None:
        """Update the measure with this event."""
        match event:
            case Usage(agent="") if event.turn:
                if (used := tokens_reached(event)) is not None:
                    self._reach(used)
            case ToolFinished():
                result = Measured(len(event.result.text.encode("utf-8", "replace")))
                self._reach(self._reached + self.size.tokens(result))
            case _ if isinstance(event, _CHANGES_NEXT_REQUEST):
                self._refresh()

    def _reach(self, tokens: int) -> None:
        self._reached = tokens
        if self._is_on:
            self._publish(ContextMeasured(tokens=tokens))

    def _refresh(self) -> None:
        self._is_stale = True
        if self._is_on and not self._is_measuring:
            self._is_measuring = True
            self._beside(self._measure())

    async def _measure(self) -> None:
        """Measure again if something changed meanwhile. A turn that begins measures its own request."""
        try:
            while self._is_stale and (measure := self._next_request()):
                self._is_stale = False
                measured = await asyncio.to_thread(measure)
                if not self._is_stale and self._next_request():
                    tokens = self.size.tokens(measured) if measured.bytes else None
                    self._publish(ContextMeasured(tokens=tokens))
        except Exception:
            log.exception("the next request could not be measured")
        finally:
            self._is_measuring = False


def tokens_reached(usage: Usage) -> int | None:
    """The tokens of a turn after a step: its request and its reply. None if nothing was reported."""
    sent = usage.tokens.input_tokens
    return None if sent is None else sent + (usage.tokens.output_tokens or 0)
