"""The handler of each action in the workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import get_args

from textual.widget import Widget

from keen_tui.domain.choices import Mode
from keen_tui.frontends.shared.commands.actions import ACTIONS
from keen_tui.frontends.shared.commands.command import Command
from keen_tui.frontends.shared.commands.turns import RETRY
from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.screen.palette import CommandPalette, PaletteActions
from keen_tui.frontends.tui.screen.parts import Parts
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.workspace.view import WorkspaceView

ActionHandler = Callable[[str], Awaitable[object] | None]
"""Runs an action with its arguments. Keys that are pressed meanwhile wait for the returned awaitable."""

_MODES: tuple[Mode, ...] = get_args(Mode)


def handlers_of(screen: WorkspaceView, parts: Parts) -> Mapping[str, ActionHandler]:
    """The handlers of the actions, by their ids."""
    palette = CommandPalette(screen, parts)
    shared = {each.id: partial(parts.commands.start, each) for each in ACTIONS if isinstance(each, Command)}
    return shared | {
        "stop": lambda words: parts.stopping.stop(),
        "interrupt": lambda words: parts.stopping.interrupt(),
        "suspend": lambda words: screen.app.run_action("suspend"),
        "retry": lambda words: _retry(screen, parts),
        "steer": parts.outbox.steer,
        "next_mode": lambda words: _next_mode(screen, parts),
        "theme": parts.settings.theme,
        "palette": lambda words: palette.toggle(),
        "find": parts.find_row.toggle,
        "find_older": lambda words: parts.find_row.step(-1),
        "find_newer": lambda words: parts.find_row.step(1),
        "find_message": lambda words: parts.completer.search(),
        "copy": parts.copier.copy,
        "details": lambda words: parts.detail.change(),
        "edit_draft": lambda words: parts.opener.edit_draft(),
        "open_file": lambda words: screen.transcript.action_open_file(),
        "paste_image": lambda words: parts.image_paste.start(),
        "sidebar": lambda words: parts.arrangement.toggle_sidebar(),
        "wider_panels": lambda words: parts.arrangement.widen(1),
        "narrower_panels": lambda words: parts.arrangement.widen(-1),
        "fold_activity": lambda words: parts.arrangement.fold_activity(),
        "fold_memory": lambda words: screen.sidebar.fold_memory(),
        "next_pane": lambda words: _next_pane(screen, parts),
        "page_up": lambda words: _page(screen, -1),
        "page_down": lambda words: _page(screen, 1),
        "top": lambda words: screen.transcript.action_scroll_home(),
        "bottom": lambda words: screen.transcript.action_scroll_end(),
    }


def _retry(screen: WorkspaceView, parts: Parts) -> Awaitable[object]:
    """Retry the incomplete or failed turn."""
    question = screen.question_pane.question
    if question and not question.interrupts:
        screen.close_question()
    return parts.commands.start(RETRY)


def _next_mode(screen: WorkspaceView, parts: Parts) -> None:
    """The next permission mode; never `auto` while a question is open, so that a slip can't allow
    everything."""
    place = _MODES.index(screen.session.mode)
    following = (*_MODES[place + 1 :], *_MODES[:place])
    is_asked = screen.question_pane.question is not None
    PaletteActions(screen, parts).set_mode(next(mode for mode in following if mode != "auto" or not is_asked))


def _next_pane(screen: WorkspaceView, parts: Parts) -> None:
    """Insert the chosen completion; else move the focus: composer, transcript, panels."""
    if not parts.completer.take():
        panes = sorted(screen.focus_chain, key=_rank)
        place = panes.index(screen.focused) + 1 if screen.focused in panes else 0
        screen.set_focus(panes[place % len(panes)] if panes else None)


def _rank(pane: Widget) -> int:
    """The position of a pane in the order of the focus; panes of one position in their order on the
    screen."""
    return 1 if isinstance(pane, Transcript) else 2 if isinstance(pane, Panel) else 0


def _page(screen: WorkspaceView, way: int) -> None:
    """Up (-1) or down (1) in a long question, else in the transcript."""
    if screen.question_pane.scroll_body(way):
        return
    if way < 0:
        screen.transcript.action_page_up()
    else:
        screen.transcript.action_page_down()
