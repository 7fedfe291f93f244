"""The tour on the screen: a person presses the keys, a guide says which and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from keen_tui.agent.session import Session
from keen_tui.config import Settings
from keen_tui.demo.guide import WELCOME, Guide
from keen_tui.demo.play import tour_session
from keen_tui.events import MessageTakenBack, TurnAbandoned, TurnDone
from keen_tui.wiring import run_screen

if TYPE_CHECKING:
    from keen_tui.ui.app import KeenApp


def play_on_screen(settings: Settings, themes: Path, pace: float) -> None:
    """Run the workspace with the tour beside it, until the person leaves."""
    with tour_session(settings, pace) as session:
        run_screen(session, settings, themes=themes, companion=ScreenTour(session).run)


class ScreenTour:
    """A reader of the bus that shows the words of the guide and writes the next prompt for the person."""

    def __init__(self, session: Session) -> None:
        self._reader = session.bus.subscribe()
        self._guide = Guide()

    async def run(self, app: KeenApp) -> None:
        """Guide until the session is closed."""
        app.show_guide(WELCOME)
        app.suggest(self._guide.next_prompt)
        async for batch in self._reader:
            for event in batch:
                if words := self._guide.words(event):
                    app.show_guide(words)
                if isinstance(event, TurnDone | TurnAbandoned | MessageTakenBack):
                    app.suggest(self._guide.next_prompt)
