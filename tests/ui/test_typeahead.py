"""A key takes effect before the next one is delivered, through however many message queues it goes."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest
from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.message import Message

from keen_tui.frontends.tui.keys.typeahead import Typeahead
from keen_tui.frontends.tui.terminal.message_queues import is_at_rest
from tests.support.waiting import until


class Busy(Message):
    """Its handler waits until it may end."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()


class Pane(Vertical, can_focus=True):
    """Notifies the app of each key, through the containers around it."""

    class Typed(Message):
        """The key `name` was typed into `pane`."""

        def __init__(self, pane: str | None, name: str) -> None:
            super().__init__()
            self.pane, self.name = pane, name

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.post_message(self.Typed(self.id, event.key))

    async def on_busy(self, message: Busy) -> None:
        message.begun.set()
        await message.may_end.wait()


class Panes(App[None]):
    """Two panes in containers. The focus moves from one to the other when the app hears of a key."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.heard: list[tuple[str | None, str]] = []
        self.typeahead = Typeahead(self, self.act_on)
        self._depth = depth

    def compose(self) -> ComposeResult:
        with ExitStack() as inside:
            for _ in range(self._depth):
                inside.enter_context(Vertical())
            yield Pane(id="one")
            yield Pane(id="other")

    async def act_on(self, typed: events.Key | events.Paste) -> None:
        assert self.focused is not None
        self.focused.post_message(typed)

    @on(Pane.Typed)
    def _hear(self, message: Pane.Typed) -> None:
        self.heard.append((message.pane, message.name))
        self.query_one("#other" if message.pane == "one" else "#one").focus()


@pytest.mark.parametrize("depth", [1, 5, 40])
async def test_each_key_acts_in_the_pane_that_the_one_before_it_led_to(depth: int) -> None:
    app = Panes(depth)
    async with app.run_test() as pilot:
        app.query_one("#one").focus()
        await pilot.pause()
        for key in "abcdef":
            await app.typeahead.take(events.Key(key, key))
        opening = asyncio.create_task(app.typeahead.open())
        await until(lambda: len(app.heard) == 6)
        await opening
    assert app.heard == [(pane, key) for pane, key in zip(["one", "other"] * 3, "abcdef", strict=True)]


async def test_a_widget_is_at_rest_between_its_messages_only() -> None:
    app, busy, new = Panes(1), Busy(), Pane()
    async with app.run_test() as pilot:
        pane = app.query_one("#one")
        await pilot.pause()
        await until(lambda: is_at_rest(pane))
        pane.post_message(busy)
        before = is_at_rest(pane)
        await busy.begun.wait()
        meanwhile = is_at_rest(pane)
        busy.may_end.set()
        await until(lambda: is_at_rest(pane))
        unmounted = is_at_rest(new)
        await app.mount(new)
        await until(lambda: is_at_rest(new))
    assert (before, meanwhile, unmounted) == (False, False, False)
