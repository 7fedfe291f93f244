"""A key takes effect before the next one is delivered, through however many message queues it goes."""

from __future__ import annotations

import asyncio
from typing import Any

from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from keen_tui.frontends.tui.keys.typeahead import Typeahead
from keen_tui.frontends.tui.terminal.message_queues import is_at_rest


class Busy(Message):
    """Its handler waits until it may end."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()


class Pane(Vertical, can_focus=True):
    """Gives each key to its parent, four messages later, each in a queue of its own."""

    class Typed(Message):
        def __init__(self, key: str, hops: int) -> None:
            super().__init__()
            self.key, self.hops = key, hops

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.post_message(self.Typed(event.key, 4))

    @on(Typed)
    def _hop(self, message: Typed) -> None:
        if message.hops:
            message.stop()
            self.post_message(self.Typed(message.key, message.hops - 1))

    async def on_busy(self, message: Busy) -> None:
        message.begun.set()
        await message.may_end.wait()


class Panes(App[None]):
    """Two panes. The focus moves from one to the other with each key, when the app hears of it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str | None, str]] = []
        self.typeahead = Typeahead(self, self.act_on)

    def compose(self) -> ComposeResult:
        yield Pane(Static(), id="one")
        yield Pane(Static(), id="other")

    async def act_on(self, typed: events.Key | events.Paste) -> None:
        assert self.focused is not None
        self.focused.post_message(typed)

    @on(Pane.Typed)
    def _hear(self, message: Pane.Typed) -> None:
        assert self.focused is not None
        self.heard.append((self.focused.id, message.key))
        self.query_one("#other" if self.focused.id == "one" else "#one").focus()


async def _until(holds: Any) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.01)


async def test_each_key_acts_in_the_pane_that_the_one_before_it_led_to() -> None:
    app = Panes()
    async with app.run_test() as pilot:
        app.query_one("#one").focus()
        await pilot.pause()
        for key in "abcdef":
            await app.typeahead.take(events.Key(key, key))
        opening = asyncio.create_task(app.typeahead.open())
        await _until(lambda: len(app.heard) == 6)
        await opening
    assert app.heard == [(pane, key) for pane, key in zip(["one", "other"] * 3, "abcdef", strict=True)]


async def test_a_widget_is_at_rest_between_its_messages_only() -> None:
    app = Panes()
    async with app.run_test() as pilot:
        pane = app.query_one("#one")
        await pilot.pause()
        await _until(lambda: is_at_rest(pane))
        busy = Busy()
        pane.post_message(busy)
        assert not is_at_rest(pane)
        await busy.begun.wait()
        assert not is_at_rest(pane)
        busy.may_end.set()
        await _until(lambda: is_at_rest(pane))
        new = Pane()
        assert not is_at_rest(new)
        await app.mount(new)
        await _until(lambda: is_at_rest(new))
        await new.remove()
        assert not is_at_rest(new)
