"""The tour beside a front end in which a person presses the keys: a guide says which and why."""

from __future__ import annotations

from keen_tui.agent.session import Session
from keen_tui.demo.guide import Guide
from keen_tui.domain.events import MessageTakenBack, TurnAbandoned, TurnDone
from keen_tui.frontends.shared.port import Guided


class Tour:
    """A reader of the bus that shows the words of the guide and writes the next prompt for the person."""

    def __init__(self, session: Session, guide: Guide) -> None:
        self._reader = session.bus.subscribe()
        self._guide = guide

    async def run(self, app: Guided) -> None:
        """Guide until the session is closed."""
        app.show_guide(self._guide.welcome)
        app.suggest(self._guide.next_prompt)
        async for batch in self._reader:
            for event in batch:
                if words := self._guide.words(event):
                    app.show_guide(words)
                if isinstance(event, TurnDone | TurnAbandoned | MessageTakenBack):
                    app.suggest(self._guide.next_prompt)
