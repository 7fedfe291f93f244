"""Type-ahead: every key takes effect once, in the order in which it was typed, however fast it comes.

A key acts in several message queues: the app runs the actions that work anywhere, the focused widget takes
the rest and posts messages about it, a page that an action opens gets the focus a moment later. A key that is
delivered before all of that is done overtakes the one before it, or reaches a widget that was already left.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, Final, TypeGuard

from textual import events, widgets
from textual.app import App
from textual.message_pump import MessagePump

from keen_tui.frontends.tui.terminal.message_queues import drained, is_at_rest

TypedEvent = events.Key | events.Paste

_SPARE_LOOKS: Final = 8
"""How often widgets are asked whether they are at rest, beyond twice their number."""
_PATIENCE: Final = 5.0
"""Seconds that a key waits for the one before it at most, so that no widget can lock the keyboard."""


class Typeahead:
    """Delivers keys and pastes one by one, each when the one before it has been handled.

    Args:
        deliver: acts on a key. It is called in the app's own message loop.
    """

    def __init__(self, app: App[Any], deliver: Callable[[TypedEvent], Awaitable[None]]) -> None:
        self._app = app
        self._deliver = deliver
        self._waiting: deque[TypedEvent | asyncio.Event] = deque()
        self._feeding: asyncio.Task[None] | None = None
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether keys are delivered. Before that they wait."""
        return self._is_open

    @property
    def is_empty(self) -> bool:
        """Whether everything that was typed has taken effect."""
        return not self._waiting and self._feeding is None

    async def open(self, written: Callable[[], object] = lambda: None) -> None:
        """Deliver from now on, and call `written` as soon as the text that was typed first is in its editor.
        Returns when what was typed so far has taken effect, so the app's own message loop must not wait for
        this."""
        self._is_open = True
        all_text, all_so_far = asyncio.Event(), asyncio.Event()
        self._waiting.insert(sum(1 for _ in takewhile(_is_written, self._waiting)), all_text)
        self._waiting.append(all_so_far)
        self._feed([])
        await all_text.wait()
        written()
        await all_so_far.wait()

    async def take(self, typed: TypedEvent) -> None:
        """Deliver it now if nothing is before it, else in its turn. To be called in the app's own message
        loop."""
        if not self._is_open or self._feeding:
            self._waiting.append(typed)
            return
        concerned = self._concerned()
        await self._deliver(typed)
        self._feed(concerned)

    def _feed(self, concerned: list[MessagePump]) -> None:
        self._feeding = asyncio.create_task(self._deliver_waiting(concerned), name="typeahead")

    async def _deliver_waiting(self, concerned: list[MessagePump]) -> None:
        """Deliver until nothing waits, behind a key that concerns these."""
        try:
            await self._settle(concerned)
            while self._waiting:
                concerned = self._concerned()
                self._deliver_next()
                await self._settle(concerned)
        finally:
            self._feeding = None

    def _deliver_next(self) -> None:
        """Deliver the next key, or all letters in a row for an editor."""
        typed = self._waiting.popleft()
        if isinstance(typed, asyncio.Event):
            typed.set()
            return
        if isinstance(self._app.focused, widgets.TextArea) and _is_letter(typed):
            letters = [typed]
            while self._waiting and _is_letter(letter := self._waiting[0]):
                letters.append(letter)
                self._waiting.popleft()
            self._app.call_later(self._deliver_letters, letters)
        else:
            self._app.call_later(self._deliver, typed)

    async def _deliver_letters(self, letters: list[events.Key]) -> None:
        """Deliver letters, to an editor as one key, so that it inserts them at once."""
        if isinstance(self._app.focused, widgets.TextArea):
            letters = [events.Key(letters[0].key, "".join(letter.character or "" for letter in letters))]
        for letter in letters:
            await self._deliver(letter)

    def _concerned(self) -> list[MessagePump]:
        """Where a key acts that is delivered now, in the order of its way."""
        place = self._app.focused or self._app.screen
        return [*place.ancestors_with_self]

    async def _settle(self, concerned: list[MessagePump]) -> None:
        """Wait until a key has had its whole effect, also in a page or pane that got the focus by it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                settled: list[MessagePump] = []
                while settled != concerned:
                    await _come_to_rest(concerned)
                    settled, concerned = concerned, self._concerned()


async def _come_to_rest(pumps: Sequence[MessagePump]) -> None:
    """Wait until these have no more messages to handle. Each time, a message may have gone only one step
    further on its way through them, and the widget at its end may answer with another one. In a stream one of
    them may always be busy."""
    for _ in range(2 * len(pumps) + _SPARE_LOOKS):
        busy = [pump for pump in pumps if not is_at_rest(pump)]
        if not busy:
            break
        await drained(*busy)


def _is_letter(typed: TypedEvent | asyncio.Event) -> TypeGuard[events.Key]:
    return isinstance(typed, events.Key) and typed.is_printable


def _is_written(typed: TypedEvent | asyncio.Event) -> bool:
    """Whether an editor alone takes it, where the entrance showed it too."""
    return _is_letter(typed) or (isinstance(typed, events.Key) and typed.key == "backspace")
