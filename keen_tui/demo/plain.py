"""The tour line by line: there is nothing to be seen at the right, and commands take the place of keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from keen_tui.demo.guide import Guide
from keen_tui.demo.play import tour_session
from keen_tui.demo.tour_driver import Tour
from keen_tui.domain.events import ApprovalRequested, Event, TurnDone, TurnIncomplete, TurnStarted
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.settings.schema import Settings


@contextmanager
def tour_line_by_line(settings: Settings, pace: float) -> Iterator[FrontEndSetup]:
    """The scratch project with the tour beside it."""
    with tour_session(settings, pace) as session:
        yield FrontEndSetup(session=session, controls=session, companion=Tour(session, PlainGuide()).run)


class PlainGuide(Guide):
    """Says what to type."""

    def __init__(self) -> None:
        super().__init__(send="enter", retry="/retry", leave="/exit")

    def _farewell(self) -> str:
        return (
            "That's Keen. To use it with a model of your own, quit with /exit, start keen-tui --plain, and "
            "choose the model with /model."
        )

    def words(self, event: Event) -> str | None:
        """What to say now, None for nothing."""
        said = super().words(event)
        match event:
            case TurnStarted(attempt=1):
                return "Each call is announced when it starts and when it ends."
            case ApprovalRequested(name="bash"):
                return (
                    "In ask mode Keen asks before it runs a command. Type 1 and press enter to run the tests."
                )
            case ApprovalRequested():
                return "This is the whole change, before it is made. Type 1 and press enter to make it."
            case TurnIncomplete():
                return (
                    f"Still no luck. {event.calls} finished calls are kept. "
                    "Type /retry and press enter: the turn continues from the last result."
                )
            case TurnDone(turn=1):
                return "The line above shows everything later turns will know. Press enter to ask the model."
            case _:
                return said
