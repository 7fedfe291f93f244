"""The tour on the screen: a person presses the keys, a guide says which and why."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from keen_tui.agent.session import Session
from keen_tui.config import Settings
from keen_tui.demo.guide import Guide
from keen_tui.demo.play import tour_session
from keen_tui.events import MessageTakenBack, TurnAbandoned, TurnDone
from keen_tui.ui.keymap import shown
from keen_tui.ui.port import Workplace
from keen_tui.wiring import build_file_names

if TYPE_CHECKING:
    from keen_tui.ui.app import KeenApp


def tour_workplace(settings: Settings, pace: float, leaving: ExitStack) -> Workplace:
    """The scratch project with the tour beside it; `leaving` takes it down."""
    session = leaving.enter_context(tour_session(settings, pace))
    files = build_file_names(session.workspace)
    return Workplace(session=session, files=files, companion=ScreenTour(session).run)


class ScreenTour:
    """A reader of the bus that shows the words of the guide and writes the next prompt for the person."""

    def __init__(self, session: Session) -> None:
        self._reader = session.bus.subscribe()
        self._guide = Guide(send=shown("send"), retry=shown("retry"), leave=shown("leave_or_delete"))

    async def run(self, app: KeenApp) -> None:
        """Guide until the session is closed."""
        app.show_guide(self._guide.welcome)
        app.suggest(self._guide.next_prompt)
        async for batch in self._reader:
            for event in batch:
                if words := self._guide.words(event):
                    app.show_guide(words)
                if isinstance(event, TurnDone | TurnAbandoned | MessageTakenBack):
                    app.suggest(self._guide.next_prompt)
