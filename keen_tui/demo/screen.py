"""The tour on the screen."""

from __future__ import annotations

from contextlib import ExitStack

from keen_tui.demo.guide import Guide
from keen_tui.demo.play import tour_session
from keen_tui.demo.tour_driver import Tour
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.settings.schema import Settings
from keen_tui.wiring.parts import build_file_names


def tour_workplace(settings: Settings, pace: float, leaving: ExitStack) -> FrontEndSetup:
    """The scratch project with the tour beside it; `leaving` takes it down."""
    session = leaving.enter_context(tour_session(settings, pace))
    keys = {"send": shown("send"), "retry": shown("retry"), "leave": shown("leave_or_delete")}
    guide = Guide(**keys, last_prompt="/model")
    return FrontEndSetup(
        session=session,
        controls=session,
        files=build_file_names(session.workspace),
        companion=Tour(session, guide).run,
        is_tour=True,
    )
