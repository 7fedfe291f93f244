"""Loads the rest of the program once the workspace is shown, in the order in which it may be needed."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from keen_tui.frontends.tui.terminal import gc_policy

if TYPE_CHECKING:
    from keen_tui.frontends.shared.port import FrontEndSetup
    from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen
    from keen_tui.frontends.tui.state.state import UiState

_LEAD_OF_A_REQUEST: Final = 0.2
"""Seconds for sending a message that waited for the SDK, before anything else is loaded."""

_LEAD_OF_A_PAST: Final = 2.0
"""Seconds for showing the newest reply of a session that is continued, before the SDK is loaded. A question
may come first, so it isn't waited for longer."""


class RestOfStart:
    """Loads the SDK, then the parser of Markdown and the highlighter. The newest reply of a session that is
    continued comes before all of that."""

    def __init__(self, setup: FrontEndSetup) -> None:
        self._setup = setup
        self._empty_session = setup.history.session_id if setup.history else ""
        self._past_shown = asyncio.Event()

    def note_shown(self, workspace: WorkspaceScreen, state: UiState) -> None:
        """The workspace was given this state."""
        is_past = state.session_id not in ("", self._empty_session) and not state.restoring
        if is_past and not self._past_shown.is_set():
            workspace.call_after_refresh(self._past_shown.set)

    async def load(self) -> None:
        """Begin to load. Returns before all is loaded."""
        if self._setup.opening:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._past_shown.wait(), _LEAD_OF_A_PAST)
        loop = asyncio.get_running_loop()
        if self._setup.controls:
            self._setup.controls.warm_up(lambda: _warmed_up(loop))
        else:
            await asyncio.to_thread(_warmed_up, loop)


def _warmed_up(loop: asyncio.AbstractEventLoop) -> None:
    """Runs in a thread when the session is ready for a request: loads what its reply needs."""
    time.sleep(_LEAD_OF_A_REQUEST)
    _load_markdown()
    with suppress(RuntimeError):  # the loop is closed: the user has left
        loop.call_soon_threadsafe(gc_policy.tame)


def _load_markdown() -> None:
    """Load parser and highlighter, so that the first reply need not wait for them (40 ms)."""
    from keen_tui.frontends.tui.markdown.stream import warm_up  # noqa: PLC0415 - not before the first paint

    warm_up()
