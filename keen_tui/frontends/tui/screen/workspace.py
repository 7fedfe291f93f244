"""The workspace: the conversation on the left, the panels on the right, the status bar below."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import ModelChanged
from keen_tui.frontends.shared.action import Where
from keen_tui.frontends.shared.commands.command import REPLAY_REFUSAL, kept
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.shared.commands.turns import KEEP_ON_DISK
from keen_tui.frontends.shared.port import (
    FrontEndSetup,
    SessionControls,
    WatchedSession,
)
from keen_tui.frontends.tui.keys.keymap import bindings, letters_of, run_by_id
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.activity import Activity
from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.panels.sidebar import Sidebar
from keen_tui.frontends.tui.panels.todos import TodoPanel
from keen_tui.frontends.tui.panels.turn_memory import TurnMemoryPanel
from keen_tui.frontends.tui.questions.question import GivenAnswer, Question
from keen_tui.frontends.tui.questions.question_pane import QuestionPane
from keen_tui.frontends.tui.screen.handlers import handlers_of
from keen_tui.frontends.tui.screen.parts import Parts
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.terminal.compositor import paint_frugally
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen, PaneColumn, PaneRow, PaneStack
from keen_tui.frontends.tui.transcript.messages import (
    Copied,
    FileWanted,
    HitsCounted,
    LinkOpened,
    LinkWanted,
    Moved,
    RowWanted,
)
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.widgets.completing import Completion
from keen_tui.frontends.tui.widgets.completion_list import CompletionList
from keen_tui.frontends.tui.widgets.composer import Composer, Prompt
from keen_tui.frontends.tui.widgets.header import HeaderBar
from keen_tui.frontends.tui.widgets.notes import KeyOffer, NoticeRows
from keen_tui.frontends.tui.widgets.status_bar import StatusBar
from keen_tui.frontends.tui.widgets.strip import Strip
from keen_tui.frontends.tui.widgets.too_small import TooSmall
from keen_tui.frontends.tui.widgets.welcome import Welcome
from keen_tui.frontends.tui.workspace.announcer import Announcer
from keen_tui.frontends.tui.workspace.notice_board import NoticeBoard
from keen_tui.frontends.tui.workspace.pane_keys import pane_keys

_KEEPS_ON_DISK = "keeps incomplete turns on disk, so they outlive Keen"


class WorkspaceScreen(KeenScreen[None]):
    """All panes, drawn from the states passed to `show`. Its parts act on keys and messages; they see it as a
    `WorkspaceView`."""

    CSS_PATH = "../look/keen.tcss"
    AUTO_FOCUS = "#prompt"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("anywhere", run_by_id)]

    announcer: Announcer | None = None
    """Reports events outside the screen too."""

    def __init__(
        self,
        setup: FrontEndSetup,
        styles: Styles,
        glyphs: Glyphs,
        *,
        reduced_motion: bool = False,
        sidebar_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._picture = paint_frugally(self)
        self.session = session = setup.session
        self._controls = setup.controls
        self.files = setup.files
        self.prompts = setup.prompts
        self.servers = setup.servers
        self.commands = SlashCommands(setup.commands, setup.skills, setup.servers)
        self.clock = clock
        self.state = UiState(
            mode=session.mode,
            policy=session.policy,
            keeps_pending=setup.keeps_pending,
            model=_model_of(session),
            replay="" if setup.controls else "playing",
        )
        self._was_shown = False
        self._drawn_session = ""
        self._is_command = False
        self._make_panes(styles, glyphs, setup.project_name)
        self.transcript.reduced_motion = reduced_motion

        self.said = NoticeBoard(self.notice, self.question_pane.lay_out)
        self.parts = Parts(self, setup, sidebar_file=sidebar_file, reduced_motion=reduced_motion)
        self._handlers = handlers_of(self, self.parts)

    def _make_panes(self, styles: Styles, glyphs: Glyphs, project: str) -> None:
        session, clock = self.session, self.clock
        self.header = HeaderBar(styles, glyphs, folder=session.workspace, project=project)
        self.transcript = Transcript(styles, glyphs, id="transcript", clock=clock)
        self.transcript.document.has_ways_on = self._controls is not None
        self.welcome = Welcome(styles, glyphs)
        self.notice = NoticeRows(styles, glyphs, id="notice", most_rows=3)
        self.guide = NoticeRows(styles, glyphs, id="guide", most_rows=3)
        self.disk_offer = KeyOffer(
            styles, glyphs, id="disk-offer", action_id=KEEP_ON_DISK.id, words=_KEEPS_ON_DISK
        )
        self.strip = Strip(styles, glyphs, clock=clock)
        self.composer = Composer(styles, glyphs)
        self.composer.prompt.workspace = session.workspace
        self.transcript.document.labelled = self.composer.prompt.labelled
        self.completions = CompletionList(styles, glyphs)
        self.question_pane = QuestionPane(
            styles,
            glyphs,
            composer=self.prompt,
            room=lambda: self.parts.arrangement.room_for_question(),
        )
        self.sidebar = Sidebar(
            Activity(styles, glyphs, clock=clock), TodoPanel(styles, glyphs), TurnMemoryPanel(styles, glyphs)
        )
        self.status = StatusBar(styles, glyphs)
        self.too_small = TooSmall(styles, glyphs, id="too-small")
        self.conversation: Widget = PaneColumn(id="conversation")
        self.stage: Widget = PaneStack(id="stage")
        self.main = PaneRow(id="main")

    def compose(self) -> ComposeResult:
        """The frame; `screen/mounting` fills it."""
        yield self.header
        yield self.main
        yield self.status
        yield self.too_small

    def begin_to_show(self) -> None:
        """All panes are mounted."""
        self.parts.arrangement.resize(self.app.size)
        self.prompt.choose = self.parts.completer.choose
        self.prompt.take_choice = lambda: self.parts.completer.take(sends=True)
        self.watch(self, "focused", self.show_status, init=False)
        self.show(self.state)
        background.listen(self._errand_done)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        if not self._was_shown:  # all styles are new
            event.refresh_styles = False
        self._was_shown = True

    def hold_picture(self, is_held: bool) -> None:
        """Paint nothing while it is held; then all that has changed, at once."""
        self._picture.is_held = is_held
        self.refresh()

    def on_unmount(self) -> None:
        background.leave(self._errand_done)

    @property
    def controls(self) -> SessionControls:
        """The controls of the session. Raises SessionRefused: a replay has none."""
        return kept(self._controls, REPLAY_REFUSAL)

    @property
    def prompt(self) -> Prompt:
        """The editor of the composer."""
        return self.composer.prompt

    @property
    def look(self) -> Styles:
        """The theme in use."""
        return self.status.look

    @property
    def glyphs(self) -> Glyphs:
        """The symbols in use."""
        return self.status.glyphs

    @property
    def focused_place(self) -> Where:
        """Where the focus is, in the terms of the action registry."""
        if isinstance(self.focused, Transcript):
            return "transcript"
        if isinstance(self.focused, Panel):
            return "panels"
        if self.focused and self.focused.id == "find-field":
            return "search"
        return "question" if self.question_pane.question else "composer"

    # What is drawn

    def show(self, state: UiState) -> None:
        """Draw this state everywhere. Parts that didn't change cost nothing."""
        before, self.state = self.state, state
        if state.restoring:
            self.transcript.document.prepare(state.past)
        else:
            self._draw(before, state)
        self.parts.tips.show(before, state)
        self.parts.disk_offer.show(before, state)
        self.parts.resumed.show(before, state)
        self.parts.context.show(before, state)
        self.parts.switch.show(before, state)
        if self.announcer:
            self.announcer.show(state)
        if state.taken_back and state.taken_back != before.taken_back and not state.restoring:
            self.prompt.write_before(state.taken_back)
        if (state.queue, state.steered) != (before.queue, before.steered):
            self.parts.drafts.keep_soon()
        if state.unsent and state.session_id != before.session_id:
            self.parts.outbox.give_back(state.unsent)

    def prepare(self, state: UiState) -> bool:
        """Parse new text of a state that another one follows at once, instead of drawing the state. Returns
        False if it must be drawn."""
        is_same = state.session_id == self._drawn_session and not state.restoring
        return is_same and self.transcript.document.read_ahead(len(state.past), state.live)

    def _draw(self, before: UiState, state: UiState) -> None:
        if state.session_id != self._drawn_session:
            self._begin_session(state.session_id)
        empty = not state.past and not state.live
        self.welcome.display = empty
        self.transcript.display = not empty
        self.transcript.show(state.past, state.live)
        self.header.show_model(state.model)
        self.header.title = state.title or (state.turns[0].title if state.turns else "")
        self.sidebar.show(state)
        self.strip.show(state)
        self.composer.show(state)
        if before.running and not state.running:
            self.said.end_turn()
        for sentence in state.notices_over[len(before.notices_over) :]:
            self.said.withdraw(sentence)
        if state.notice and state.notice != before.notice:
            self.said.say_too(state.notice)
        self.parts.turn_questions.show(before, state)
        self.show_status()
        self.parts.ticker.run(state.running)

    def _begin_session(self, session_id: str) -> None:
        """Forget the state drawn so far: the next one doesn't continue it. The draft stays."""
        self._drawn_session = session_id
        self.transcript.begin()
        if isinstance(self.focused, Transcript):
            self.prompt.focus()

    def show_status(self) -> None:
        """Draw the status bar."""
        self.welcome.show_mode(self.session.mode)
        self.status.show(
            self.state,
            chip_in_view=self.transcript.viewport.key_chip_visible,
            pane_keys=pane_keys(
                self.focused_place,
                is_command=self.prompt.is_command,
                can_fold=self.transcript.cursor.can_fold,
                running=self.state.running,
            ),
            overlay_open=self.parts.arrangement.overlay_open,
        )

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw everything with another theme or other symbols."""
        for part in (
            self.header, self.transcript, self.welcome, self.notice, self.guide, self.disk_offer, self.strip,
            self.completions, self.composer, self.question_pane, self.sidebar, self.status, self.too_small,
            self.parts.find_row,
        ):  # fmt: skip
            part.set_look(styles, glyphs)

    def set_reduced_motion(self, reduced: bool) -> None:
        """Whether nothing may blink or pulse."""
        self.parts.ticker.reduced = self.transcript.reduced_motion = reduced

    def _errand_done(self) -> None:
        """Redraw with results that took longer than a frame."""
        self.transcript.recolour()
        self.question_pane.set_look(self.look, self.glyphs)

    # What is said and asked

    def say(self, text: str) -> None:
        """Show one sentence above the composer until the next key."""
        self.said.say(text)

    def attempt(self, action: Callable[[], None]) -> bool:
        """Run an action; a refusal of the session becomes the notice. False: it was refused."""
        try:
            action()
        except SessionRefused as refused:
            self.say(str(refused))
            return False
        return True

    async def ask(self, question: Question) -> str:
        """Ask a question and wait for the id of the answer; "" if it is closed or replaced by another one."""
        given = await self.open_question(question)
        if given is None:
            return ""
        self.close_question()
        return given.choice

    def open_question(self, question: Question) -> asyncio.Future[GivenAnswer | None]:
        """Show a question in place of the composer; the draft in there stays. It is open until it is closed
        or replaced by another one: the answer alone doesn't close it."""
        self.parts.detail.leave_whole()
        answer = self.question_pane.ask(question)
        self.composer.display = False
        self.parts.arrangement.set_asked(True)
        self.transcript.set_asked(True)
        return answer

    def close_question(self) -> None:
        """Show the composer again, unless the turn asks something."""
        self.parts.detail.leave_whole()
        self.transcript.set_asked(False)
        self.composer.display = True
        self.set_focus(self.prompt)
        self.question_pane.close()
        self.parts.arrangement.set_asked(False)
        self.parts.turn_questions.ask_again()

    # What is done

    def run(self, action_id: str, words: str = "") -> None:
        """Run the action of that id, with its arguments."""
        if action_id == "stop":
            self.parts.find_row.leave()  # esc means the search first, the name means the turn
        done = self._handlers[action_id](words)
        if isawaitable(done):
            self.call_next(lambda: done)

    async def action_do(self, action_id: str) -> None:
        """A key of the action was pressed."""
        done = self._handlers[action_id]("")
        if isawaitable(done):
            await done

    def work(self, action: Coroutine[Any, Any, None], name: str, *, instead: bool = False) -> None:
        """Run this in the background. With `instead`, running work of that name is cancelled."""
        self.run_worker(action, name=name, group=name, exclusive=instead)

    def cancel_work(self, name: str) -> None:
        """Cancel this work."""
        self.workers.cancel_group(self, name)

    def start(self, action: Coroutine[Any, Any, None], name: str) -> asyncio.Future[None]:
        """Run this in the background. Returns a future that is done when it asks or waits for something."""
        self.work(action, name)
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[None] = loop.create_future()
        loop.call_soon(_end, begun)
        return begun

    def open_page(self, page: Screen[Any], then: Callable[[Any], Any] | None = None) -> None:
        """Show a page over the workspace; `then` gets its result."""
        self.app.push_screen(page, then)

    def offer(self, found: Sequence[Completion], *, runs: bool = False) -> None:
        """Show these rows directly above the composer."""
        self.completions.styles.margin = (0, 0, self.composer.outer_size.height, 0)
        self.completions.show(found, runs=runs)

    def focus_input(self) -> None:
        """Move the focus to the composer or the question."""
        if self.question_pane.question:
            self.question_pane.take_focus()
        else:
            self.set_focus(self.prompt)

    def turn_to_prompt(self, key: events.Key) -> None:
        """Move the focus to the composer for a letter that does nothing where it was typed."""
        place, letter = self.focused_place, key.character or ""
        is_free = place in ("transcript", "panels")
        if is_free and key.is_printable and letter.strip() and letter not in letters_of(place):
            self.focus_input()

    # Messages of the panes

    def on_resize(self, event: events.Resize) -> None:
        self.parts.arrangement.resize(event.size)

    def on_paste(self, event: events.Paste) -> None:
        """Text pasted while the focus is elsewhere goes to the composer."""
        if not self.question_pane.question and not self.prompt.has_focus:
            self.prompt.focus()
            self.prompt.post_message(events.Paste(event.text))

    @on(TextArea.Changed, "#prompt")
    def _text_changed(self) -> None:
        self.parts.drafts.keep_soon()
        self.parts.completer.follow_text()
        if self.prompt.is_command != self._is_command:  # enter does something else with a command
            self._is_command = self.prompt.is_command
            self.show_status()

    @on(TextArea.SelectionChanged, "#prompt")
    def _cursor_moved(self) -> None:
        self.parts.completer.follow_cursor()

    @on(Prompt.Sent)
    def _send(self, message: Prompt.Sent) -> None:
        self.parts.outbox.send(message.text)

    @on(Prompt.QueuedWanted)
    def _edit_queued(self) -> None:
        self.parts.outbox.edit_queued()

    @on(Prompt.ActionWanted)
    def _run_wanted(self, message: Prompt.ActionWanted) -> None:
        self.run(message.action_id)

    @on(CompletionList.Taken)
    def _take_clicked(self, message: CompletionList.Taken) -> None:
        self.parts.completer.take_clicked(message.completion)

    def on_find_bar_wanted(self) -> None:
        """The row shows other text."""
        self.parts.find_row.follow_field()

    @on(HitsCounted)
    def _count_hits(self, message: HitsCounted) -> None:
        message.stop()
        self.parts.find_row.count(message.tally)

    @on(Moved)
    def _transcript_moved(self, message: Moved) -> None:
        message.stop()
        self.sidebar.set_end_in_view(self.transcript.viewport.following)
        self.show_status()

    @on(Copied)
    def _say_copied(self, message: Copied) -> None:
        self.say(message.told)

    @on(FileWanted)
    def _open_file(self, message: FileWanted) -> None:
        self.parts.opener.open_of(message.block)

    @on(LinkWanted)
    def _open_link(self, message: LinkWanted) -> None:
        self.parts.opener.open_link_of(message.block)

    @on(LinkOpened)
    def _open_clicked(self, message: LinkOpened) -> None:
        self.parts.opener.open_clicked(message.href)

    @on(RowWanted)
    def _show_row(self, message: RowWanted) -> None:
        self.parts.arrangement.show_row(message.turn, message.call_id)

    @on(Panel.Chosen)
    def _reveal(self, message: Panel.Chosen) -> None:
        if self.parts.agents.open_of_call(message.call_id):
            return
        if self.parts.arrangement.overlay_open:
            self.parts.arrangement.toggle_sidebar()
        self.transcript.focus()
        self.transcript.reveal(message.turn, message.call_id)

    @on(Panel.TaskWanted)
    def _show_task(self, message: Panel.TaskWanted) -> None:
        self.run("tasks", message.id)

    @on(Panel.FileWanted)
    def _open_file_of_row(self, message: Panel.FileWanted) -> None:
        self.parts.opener.open_file_of(message.turn, message.call_id)

    @on(Panel.ChangesWanted)
    def _show_changes_of_row(self, message: Panel.ChangesWanted) -> None:
        if message.turn:
            self.run("diff", str(message.turn))
        else:
            self.say("No turn has changed anything yet.")


def _end(begun: asyncio.Future[None]) -> None:
    if not begun.done():
        begun.set_result(None)


def _model_of(session: WatchedSession) -> ModelChanged:
    """The model at the start."""
    return ModelChanged(
        model=session.model,
        server=session.server,
        effort=session.effort,
        context_window=session.context_window,
    )
