"""The app from its start to the moment when the terminal is the user's again and everything is saved."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from keen_tui.frontends.tui.app import KeenApp, UiSettings
from keen_tui.frontends.tui.terminal.output import write_at_end
from keen_tui.system.last_resort import end_at_last

if TYPE_CHECKING:
    from keen_tui.frontends.shared.port import FrontEndSetup

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The signals of a system that shuts down, of a terminal whose window or connection is closed, and of a
person who wants the program to end now."""


async def run_app(
    prepare: Callable[[], FrontEndSetup],
    settings: UiSettings,
    end_surely: Callable[[], None] = end_at_last,
) -> str | None:
    """Run the app until the user leaves, a signal ends it or its terminal is gone; then stop the session's
    turn and close it. Returns the app's result.

    Args:
        end_surely: ends the process even if the session can't be closed. Called if nobody has left.

    Raises:
        Exception: what `prepare` raised.
    """
    app = KeenApp(prepare, settings)
    result: str | None = None
    with _ending(app.exit):
        try:
            result = await app.run_async(mouse=settings.mouse)
        finally:
            if result is None:
                end_surely()
            write_at_end(app.farewell, sys.__stderr__)
            if app.setup:
                app.keep_draft()
                if result is None and app.setup.history:
                    app.setup.history.keep_unasked()
                way_back = app.way_back
                is_saved = await _close(app.setup)
                write_at_end(await _parting(app.setup, way_back if is_saved else ""), sys.__stderr__)
    if app.failure:
        raise app.failure
    return result


async def _parting(setup: FrontEndSetup, way_back: str) -> str:
    """The last line in the terminal; "" for none."""
    if setup.tree is None:
        return way_back
    from keen_tui.frontends.shared.commands.work_tree import parting  # noqa: PLC0415 - not before the first paint
    from keen_tui.text.sanitize import clean  # noqa: PLC0415

    return f"{clean(await parting(setup, way_back.rstrip()))}\n"


async def _close(setup: FrontEndSetup) -> bool:
    """Whether all there was to save is saved; else that is told."""
    if setup.runs:
        setup.runs.leave()
    await setup.session.close()
    if setup.prompts:
        await setup.prompts.close()
    history = setup.history
    if history and (problem := await history.close()):
        from keen_tui.text.sanitize import clean  # noqa: PLC0415 - not before the first paint

        write_at_end(f"keen-tui: {clean(problem)}\n", sys.__stderr__)  # the screen is gone
        return False
    return True


@contextmanager
def _ending(end: Callable[[], None]) -> Iterator[None]:
    """Inside, each such signal calls `end` in the event loop that runs, also while it is ending already."""
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        for number in _ENDING:
            loop.remove_signal_handler(number)
