"""What the parts of the workspace see of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from keen_tui.frontends.shared.action import Where
from keen_tui.frontends.shared.commands import SlashCommands
from keen_tui.frontends.shared.port import FilesPort, PromptsPort, SessionControls, WatchedSession
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
from keen_tui.frontends.tui.widgets.notes import NoticeRows
from keen_tui.frontends.tui.widgets.status_bar import StatusBar
from keen_tui.frontends.tui.widgets.strip import Strip
from keen_tui.frontends.tui.workspace.said import NoticeBoard


class WorkspaceView(Protocol):
    """The screen as its parts see it: what is on it, and the few things that they do to it."""

    session: WatchedSession
    files: FilesPort | None
    prompts: PromptsPort | None
    commands: SlashCommands
    state: UiState
    clock: Callable[[], float]

    header: HeaderBar
    transcript: Transcript
    notice: NoticeRows
    strip: Strip
    guide: NoticeRows
    completions: CompletionList
    composer: Composer
    question_pane: QuestionPane
    sidebar: Sidebar
    status: StatusBar
    conversation: Widget
    said: NoticeBoard

    @property
    def controls(self) -> SessionControls:
        """The controls of the session. Raises SessionRefused: a replay has none."""

    @property
    def app(self) -> App[Any]:
        """The app around it."""

    @property
    def prompt(self) -> Prompt:
        """The editor of the composer."""

    @property
    def look(self) -> Styles:
        """The theme in use."""

    @property
    def glyphs(self) -> Glyphs:
        """The signs in use."""

    @property
    def focused(self) -> Widget | None:
        """What has the focus."""

    @property
    def focused_place(self) -> Where:
        """Where the focus is, in the words of the action registry."""

    def set_focus(self, widget: Widget | None) -> None:
        """Move the focus."""

    def focus_input(self) -> None:
        """Move the focus to where one writes or answers."""

    def clear_selection(self) -> None:
        """Nothing is selected any more."""

    def set_class(self, add: bool, *names: str) -> object:
        """Let the styles of these classes hold, or not."""

    def show_status(self) -> None:
        """Draw the status bar."""

    def say(self, text: str) -> None:
        """Show one sentence above the composer until the next key."""

    def attempt(self, action: Callable[[], None]) -> bool:
        """Do it; what the session refuses becomes the notice. False: it was refused."""

    async def ask(self, question: Question) -> str:
        """Put a question, and wait for the id of the answer; "" where it is closed, or another one comes."""

    def open_question(self, question: Question) -> asyncio.Future[GivenAnswer | None]:
        """Put a question in the place of the composer, which its answer alone does not close."""

    def close_question(self) -> None:
        """Give the composer its place back, unless the turn asks something."""

    def offer(self, found: Sequence[Completion], *, runs: bool = False) -> None:
        """Show these directly above the composer."""

    def open_page(self, page: Screen[Any], then: Callable[[Any], Any] | None = None) -> None:
        """Show a page over the workspace; `then` gets what it gives back."""

    def run(self, action_id: str, words: str = "") -> None:
        """Run the action of that id, with the words that it may take."""

    def work(self, action: Coroutine[Any, Any, None], name: str, *, instead: bool = False) -> None:
        """Do this beside everything else. With `instead` what is still done under that name is ended."""

    def cancel_work(self, name: str) -> None:
        """Do this no more."""

    def start(self, action: Coroutine[Any, Any, None], name: str) -> asyncio.Future[None]:
        """Do this beside everything else. Gives a future that is done when it asks or waits for something."""

    def call_next(self, callback: Callable[..., Any], *args: Any) -> None:
        """Do this behind the message that is handled now."""

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Do this when what has changed is drawn."""

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Do this in so many seconds."""

    def set_interval(self, interval: float, callback: Callable[[], object]) -> Timer:
        """Do this every so many seconds."""
