"""The smallest possible Textual app, the reference for a start."""

from __future__ import annotations

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static

READY, ECHO = "BARE-READY", "BARE-ECHO"


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static(READY)

    def on_key(self, event: events.Key) -> None:
        self.query_one(Static).update(f"{ECHO} {event.key}")


if __name__ == "__main__":
    Bare().run()
