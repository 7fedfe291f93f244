"""Signals outside of the screen: the terminal's title, a bell, a notification of the desktop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.widgets.phrases import tool_name
from keen_tui.text.labels import shortly_why
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration

KEEP_TITLE: Final = "\x1b[22;2t"
GIVE_TITLE_BACK: Final = "\x1b[23;2t"
"""XTWINOPS: the terminal puts its title aside, and takes it back. Who does not know them passes over them."""
BELL: Final = "\x07"

_LONGEST: Final = 120
"""Cells of a title or a notification."""
_WITHOUT_TITLE: Final = ("linux", "dumb", "")
_TELL_BY_9: Final = ("ITERM_SESSION_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR")
_TELL_BY_777: Final = ("VTE_VERSION",)
"""Environment variables of terminals that know OSC 9, or OSC 777; tmux passes them on."""
_TERMS_BY_777: Final = ("foot", "rxvt")


def has_title(environ: Mapping[str, str]) -> bool:
    """Whether this is a terminal with a title."""
    return environ.get("TERM", "") not in _WITHOUT_TITLE


def title_of(state: UiState, folder: str) -> str:
    """The terminal's title: the project, and what it is up to."""
    if state.approval or state.asked:
        what = "waits for you"
    elif state.running:
        what = "summarising" if state.phase == "compacting" else "working"
    elif state.pending:
        what = "incomplete"
    else:
        what = state.failed.outcome if state.failed else ""
    return _safe(f"keen: {folder}{f', {what}' if what else ''}")


def title_sequence(title: str) -> str:
    """Returns the sequence that sets the title."""
    return f"\x1b]2;{title}\x1b\\"


def news_of(before: UiState, state: UiState, now: float, least_seconds: float) -> str:
    """Returns the news in this change for a user who looks elsewhere, "" for none.

    Args:
        now: on the clock of `ui.state.apply`.
        least_seconds: what took less is no news.
    """
    if state.restoring or before.restoring or state.session_id != before.session_id or not state.turns:
        return ""
    turn = state.turns[-1]
    if before.running and now - before.turn_started_at >= least_seconds:
        if state.approval and state.approval is not before.approval:
            return f"turn {turn.turn} waits for you: {tool_name(state.approval.name)}"
        if state.asked and state.asked is not before.asked:
            return f"turn {turn.turn} has a question"
    if not before.turn_running or state.turn_running:
        return ""
    earlier = before.turns[-1].seconds  # of the attempts before this one
    if turn.seconds - earlier < least_seconds:
        return ""
    if state.pending:
        return f"turn {turn.turn} is incomplete: {shortly_why(state.pending)}"
    if state.failed:
        return f"turn {turn.turn} {state.failed.outcome}: {shortly_why(state.failed)}"
    return f"turn {turn.turn} is done   {duration(turn.seconds)}   {counted(turn.calls, 'call')}"


def notification(folder: str, news: str, environ: Mapping[str, str], *, passes: bool) -> str:
    """Returns the sequence that shows a notification, or a bell if the terminal isn't known to support any.

    Args:
        passes: inside tmux, whether it passes on what is meant for the terminal around it.
    """
    text = _safe(f"{folder}: {news}")
    if environ.get("TMUX") and not passes:
        return BELL
    if any(environ.get(name) for name in _TELL_BY_9):
        told = f"\x1b]9;keen {text}\x07"
    elif any(map(environ.get, _TELL_BY_777)) or environ.get("TERM", "").startswith(_TERMS_BY_777):
        told = f"\x1b]777;notify;keen;{text.replace(';', ',')}\x07"
    else:
        return BELL
    return f"\x1bPtmux;{told.replace(chr(27), chr(27) * 2)}\x1b\\" if environ.get("TMUX") else told


def _safe(text: str) -> str:
    """Text that ends no sequence and is no novel."""
    return cut(clean(text), _LONGEST)
