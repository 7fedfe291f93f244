"""Replaces the session on the screen by another one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct
from textual.timer import Timer

from keen_tui.domain.errors import KeenError, SessionRefused
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.widgets.composer import Prompt
from keen_tui.frontends.tui.workspace.find import FindRow
from keen_tui.frontends.tui.workspace.view import WorkspaceView

OPENING_SECONDS = 0.2
"""Seconds that opening a session may take before the screen says so."""

_OPENING = "opening the session"


class _Place(Struct, frozen=True):
    """The place to show in an opened session: a turn, and the words of the search."""

    session_id: str
    turn: int
    words: str


class SessionSwitch:
    """Puts other sessions on the screen. Messages that are sent meanwhile wait for the new session."""

    def __init__(self, view: WorkspaceView, find: FindRow) -> None:
        self._view = view
        self._find = find
        self._replacing = False
        self._opening: Timer | None = None
        self._place_to_show: _Place | None = None
        self._held: tuple[str, ...] = ()

    @property
    def is_replacing(self) -> bool:
        """Whether another session is about to replace this one."""
        return self._replacing

    def hold(self, text: str) -> None:
        """Hold a message until the new session is open, and send it then."""
        self._held = (*self._held, text)

    def show_when_open(self, session_id: str, turn: int, words: str) -> None:
        """Show that turn (0 for none) and the words in it, once the session is on the screen."""
        self._place_to_show = _Place(session_id, turn, words) if turn else None

    def show(self, before: UiState, after: UiState) -> None:
        """Take note of a new state."""
        if after.restoring:
            self._tell_when_slow()
        elif before.restoring or before.session_id != after.session_id:
            self._tell_no_more()
        if self._place_to_show and not after.restoring:
            self._show_place(self._place_to_show, after)

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action that replaces the session. Raises its exceptions, and SessionRefused."""
        if self._replacing:
            raise SessionRefused("another session is already being opened")
        self._replacing, self._place_to_show = True, None
        self._tell_when_slow()
        try:
            await action()
            self._replacing = False
            self._send_held()
        except KeenError:
            self._place_to_show = None
            self._tell_no_more()
            self._put_held_back()
            raise
        finally:
            self._replacing = False

    def _send_held(self) -> None:
        held, self._held = self._held, ()
        for text in held:
            self._view.prompt.post_message(Prompt.Sent(text))

    def _put_held_back(self) -> None:
        """Put held messages back: their session couldn't be opened."""
        held, self._held = self._held, ()
        if held:
            self._view.prompt.write_before("\n".join(held))

    def _show_place(self, place: _Place, state: UiState) -> None:
        """Show the place as soon as it is loaded: a long session shows only its newest turns first."""
        is_there = place.session_id == state.session_id
        if state.running or (is_there and self._find.show_turn(place.turn, place.words)):
            self._place_to_show = None

    def _tell_when_slow(self) -> None:
        if self._opening is None:
            self._opening = self._view.set_timer(OPENING_SECONDS, lambda: self._view.say(_OPENING))

    def _tell_no_more(self) -> None:
        if self._opening is not None:
            self._opening.stop()
            self._opening = None
            if self._view.notice.text == _OPENING:
                self._view.say("")
