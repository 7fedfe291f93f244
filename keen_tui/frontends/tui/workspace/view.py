"""The workspace as its parts see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, cast

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from keen_tui.frontends.shared.action import Where
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.shared.port import FilesPort, PromptsPort, SessionControls, WatchedSession
from keen_tui.frontends.shared.servers_port import ServersPort
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.sidebar import Sidebar
from keen_tui.frontends.tui.questions.question import GivenAnswer, Question
from keen_tui.frontends.tui.questions.question_pane import QuestionPane
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.widgets.completing import Completion
from keen_tui.frontends.tui.widgets.completion_list import CompletionList
from keen_tui.frontends.tui.widgets.composer import Composer, Prompt
from keen_tui.frontends.tui.widgets.header import HeaderBar
from keen_tui.frontends.tui.widgets.notes import KeyOffer, NoticeRows
from keen_tui.frontends.tui.widgets.status_bar import StatusBar
from keen_tui.frontends.tui.widgets.strip import Strip
from keen_tui.frontends.tui.workspace.notice_board import NoticeBoard


class KeenView(Protocol):
    """The app around the workspace: its themes, and the settings that it applies."""

    theme: str
    broken_themes: Mapping[str, Sequence[str]]

    @property
    def theme_names(self) -> list[str]:
        """The themes to choose from."""

    def apply_setting(self, name: str, value: Any) -> None:
        """Let a setting of the screen take effect now."""


class WorkspaceView(Protocol):
    """The screen as its parts see it: its widgets, and the few things that they may do to it."""

    session: WatchedSession
    files: FilesPort | None
    prompts: PromptsPort | None
    servers: ServersPort | None
    commands: SlashCommands
    state: UiState
    clock: Callable[[], float]

    header: HeaderBar
    transcript: Transcript
    notice: NoticeRows
    strip: Strip
    guide: NoticeRows
    disk_offer: KeyOffer
    completions: CompletionList
    composer: Composer
    question_pane: QuestionPane
    sidebar: Sidebar
    status: StatusBar
    conversation: Widget
    stage: Widget
    said: NoticeBoard

    @property
    def controls(self) -> SessionControls:
        """The controls of the session. Raises SessionRefused: a replay has none."""

    @property
    def app(self) -> App[Any]:
        """The app around it."""

    @property
    def focus_chain(self) -> list[Widget]:
        """The widgets that can have the focus, in order."""

    @property
    def prompt(self) -> Prompt:
        """The editor of the composer."""

    @property
    def look(self) -> Styles:
        """The theme in use."""

    @property
    def glyphs(self) -> Glyphs:
        """The symbols in use."""

    @property
    def focused(self) -> Widget | None:
        """The widget that has the focus."""

    @property
    def focused_place(self) -> Where:
        """Where the focus is, in the terms of the action registry."""

    def set_focus(self, widget: Widget | None) -> None:
        """Move the focus."""

    def focus_input(self) -> None:
        """Move the focus to the composer or the question."""

    def clear_selection(self) -> None:
        """Clear the selection."""

    def set_class(self, add: bool, *names: str) -> object:
        """Switch these CSS classes on or off."""

    def show_status(self) -> None:
        """Draw the status bar."""

    def say(self, text: str) -> None:
        """Show one sentence above the composer until the next key."""

    def attempt(self, action: Callable[[], None]) -> bool:
        """Run an action; a refusal of the session becomes the notice. False: it was refused."""

    async def ask(self, question: Question) -> str:
        """Ask a question and wait for the id of the answer; "" if it is closed or replaced by another one."""

    def open_question(self, question: Question) -> asyncio.Future[GivenAnswer | None]:
        """Show a question in place of the composer. The answer alone doesn't close it."""

    def close_question(self) -> None:
        """Show the composer again, unless the turn asks something."""

    def offer(self, found: Sequence[Completion], *, runs: bool = False) -> None:
        """Show these rows directly above the composer."""

    def open_page(self, page: Screen[Any], then: Callable[[Any], Any] | None = None) -> None:
        """Show a page over the workspace; `then` gets its result."""

    def run(self, action_id: str, words: str = "") -> None:
        """Run the action of that id, with its arguments."""

    def work(self, action: Coroutine[Any, Any, None], name: str, *, instead: bool = False) -> None:
        """Run this in the background. With `instead`, running work of that name is cancelled."""

    def cancel_work(self, name: str) -> None:
        """Cancel this work."""

    def start(self, action: Coroutine[Any, Any, None], name: str) -> asyncio.Future[None]:
        """Run this in the background. Returns a future that is done when it asks or waits for something."""

    def call_next(self, callback: Callable[..., Any], *args: Any) -> None:
        """Do this after the current message is handled."""

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Do this after the next refresh."""

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Do this after so many seconds."""

    def set_interval(self, interval: float, callback: Callable[[], object]) -> Timer:
        """Do this every so many seconds."""


def keen_of(view: WorkspaceView) -> KeenView:
    """The app around the workspace, with what Keen adds to Textual's."""
    return cast("KeenView", view.app)
