"""What the workspace looks like: conversation left, instruments right, one row of status below."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import ModelChanged
from keen_tui.frontends.shared.action import Where
from keen_tui.frontends.shared.actions import BY_ID
from keen_tui.frontends.shared.commands import SlashCommands
from keen_tui.frontends.shared.port import FilesPort, HistoryPort, ModelsPort, PromptsPort, SessionPort
from keen_tui.frontends.tui import background
from keen_tui.frontends.tui.keys.keymap import keys_of, shown, shown_key
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import Layout, is_displayed, layout_of
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.activity import Activity
from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.panels.sidebar import Sidebar
from keen_tui.frontends.tui.panels.todos import TodoPanel
from keen_tui.frontends.tui.panels.turn_memory import TurnMemoryPanel
from keen_tui.frontends.tui.questions.approval import APPROVAL, approval_question
from keen_tui.frontends.tui.questions.asking import ASKED, asked_question
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.questions.question_pane import QuestionPane
from keen_tui.frontends.tui.startup import gc_policy
from keen_tui.frontends.tui.state.sidebar_widths import kept_columns
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal.compositor import paint_frugally
from keen_tui.frontends.tui.transcript.messages import Moved
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.widgets.completion_list import CompletionList
from keen_tui.frontends.tui.widgets.composer import Composer, Prompt
from keen_tui.frontends.tui.widgets.header import HeaderBar
from keen_tui.frontends.tui.widgets.notes import NoticeRows
from keen_tui.frontends.tui.widgets.status_bar import StatusBar
from keen_tui.frontends.tui.widgets.strip import Strip
from keen_tui.frontends.tui.widgets.too_small import TooSmall
from keen_tui.frontends.tui.widgets.welcome import Welcome
from keen_tui.settings.custom_commands import CustomCommand

_PANE_KEYS: dict[Where, tuple[tuple[tuple[str, ...], str], ...]] = {
    "transcript": (
        (("cursor_up", "cursor_down"), "block"),
        (("fold",), "fold"),
        (("copy_block",), "copy"),
        (("turn_above", "turn_below"), "turn"),
        (("open_file",), "editor"),
    ),
    "search": (
        (("find_older",), "older"),
        (("find_newer",), "newer"),
        (("find_stay",), "stay"),
        (("find_return",), "go back"),
    ),
    "panels": (
        (("choose_row",), "row"),
        (("show_row",), "show"),
        (("open_row",), "editor"),
        (("diff_row",), "changes"),
    ),
}
"""The actions that the status bar names while the focus is there, and what they do."""


class Stage(Screen[None]):
    """All panes, drawn from the states it is given with `show`, laid out for the size of the terminal."""

    AUTO_FOCUS = "#prompt"

    _said_in_turn = ""

    def __init__(
        self,
        session: SessionPort,
        styles: Styles,
        glyphs: Glyphs,
        *,
        models: ModelsPort | None = None,
        history: HistoryPort | None = None,
        files: FilesPort | None = None,
        prompts: PromptsPort | None = None,
        reduced_motion: bool = False,
        keeps_pending: bool = False,
        commands: Sequence[CustomCommand] = (),
        sidebar_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        paint_frugally(self)
        self.session = session
        self.models = models
        self.history = history
        self.files = files
        self.prompts = prompts
        self.keeps_pending = keeps_pending
        self.commands = SlashCommands(commands)
        self.state = UiState(
            mode=session.mode,
            policy=session.policy,
            model=_model_of(session),
            replay="playing" if session.is_replay else "",
        )
        self.clock = clock
        self._reduced_motion = reduced_motion
        self._beat = True
        self._ticking: Timer | None = None
        self._cleaning: Timer | None = None
        self.sidebar_file = sidebar_file
        self.sidebar_wanted = kept_columns(sidebar_file)
        self._beside_wanted = True
        self._overlay_wanted = False
        self._shape: Layout | None = None
        self._drawn_session = ""

        self.header = HeaderBar(styles, glyphs, folder=session.workspace)
        self.transcript = Transcript(styles, glyphs, id="transcript", clock=clock)
        self.transcript.reduced_motion = reduced_motion
        self.transcript.document.has_ways_on = not session.is_replay
        self.welcome = Welcome(styles, glyphs)
        self.notice = NoticeRows(styles, glyphs, id="notice", most_rows=3)
        self.guide = NoticeRows(styles, glyphs, id="guide", most_rows=3)
        self.strip = Strip(styles, glyphs, clock=clock)
        self.composer = Composer(styles, glyphs)
        self.composer.prompt.workspace = session.workspace
        self.transcript.document.labelled = self.composer.prompt.labelled
        self.completions = CompletionList(styles, glyphs)
        self.question_pane = QuestionPane(
            styles,
            glyphs,
            has_draft=lambda: bool(self.prompt.text.strip()),
            put_back=self.prompt.go_on,
            keep=self.prompt.keep,
            room=self._room_for_question,
        )
        self.sidebar = Sidebar(
            Activity(styles, glyphs, clock=clock), TodoPanel(styles, glyphs), TurnMemoryPanel(styles, glyphs)
        )
        if keeps_pending:
            self.sidebar.turn_memory.kept_where = "on disk"
        self.status = StatusBar(styles, glyphs)
        self.too_small = TooSmall(styles, glyphs, id="too-small")

    def compose(self) -> ComposeResult:
        yield self.header
        with Horizontal(id="main"):
            with Vertical(id="conversation"):
                with Container(id="stage"):
                    yield self.welcome
                    yield self.transcript
                yield self.notice
                yield self.strip
                yield self.guide
                yield self.completions
                yield self.composer
                yield self.question_pane
            yield self.sidebar
        yield self.status
        yield self.too_small

    def on_mount(self) -> None:
        self.watch(self, "focused", self._show_status, init=False)
        self.show(self.state)
        background.listen(self._errand_done)

    def on_unmount(self) -> None:
        background.leave(self._errand_done)

    @property
    def prompt(self) -> Prompt:
        """The editor of the composer."""
        return self.composer.prompt

    @property
    def focused_place(self) -> Where:
        """Where the focus is, in the words of the action registry."""
        if isinstance(self.focused, Transcript):
            return "transcript"
        if isinstance(self.focused, Panel):
            return "panels"
        if self.focused and self.focused.id == "find-field":
            return "search"
        return "question" if self.question_pane.question else "composer"

    def show(self, state: UiState) -> None:
        """Draw this state everywhere. Parts that it leaves as they are cost nothing."""
        old, self.state = self.state, state
        if state.restoring:
            self.transcript.document.prepare(state.past)
            return
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
        if old.running and not state.running and self._said_in_turn:
            self.say(self.notice.text.replace(self._said_in_turn, "").strip())
            self._said_in_turn = ""
        if state.notice and state.notice != old.notice:
            self._say_too(state.notice)
        self._show_what_asks(old)
        self._show_status()
        self._run_clock(state.running)

    def ask(self, question: Question) -> None:
        """Put a question in the place of the composer; the draft in there stays."""
        self.question_pane.ask(question)
        self.composer.display = False
        self.add_class("-asks")
        self.transcript.set_asked(True)

    def close_question(self) -> None:
        """Give the composer its place back."""
        self.transcript.set_asked(False)
        self.composer.display = True
        self.set_focus(self.prompt)
        self.question_pane.close()
        self.remove_class("-asks")
        if self.state.approval:
            self.ask(approval_question(self.state.approval))
        elif self.state.asked:
            self.ask(asked_question(self.state.asked))

    def _room_for_question(self) -> int:
        """Rows that a question can have: all that nothing else needs."""
        shape = self._shape or layout_of(self.app.size)
        notes = [note for note in (self.notice, self.guide) if note.display]
        said = sum(len(note.rows(note.size.width, 0)) + (not shape.low) for note in notes)
        # the status bar; a row of the transcript; header and strip
        others = 1 if shape.cramped else 2 if shape.low else 3 + (not shape.wide)
        return self.app.size.height - others - said

    def retry(self) -> None:
        """Go on with the incomplete or failed turn; what the session refuses becomes the notice."""
        try:
            self.session.retry()
        except SessionRefused as refused:
            self.say(str(refused))

    def say(self, text: str) -> None:
        """Show one sentence above the composer until the next key."""
        self.notice.text = text

    def say_in_turn(self, text: str) -> None:
        """Say it until the next key, and not beyond the end of what runs."""
        self._said_in_turn = text
        self.say(text)

    def _say_too(self, text: str) -> None:
        """Show what happened beside what stands there unread: no key was pressed since."""
        unread = self.notice.text
        self.say(f"{unread} {text}" if unread and text not in unread else text)

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw everything with another theme or another set of signs."""
        for part in (
            self.header, self.transcript, self.welcome, self.notice, self.guide, self.strip, self.completions,
            self.composer, self.question_pane, self.sidebar, self.status, self.too_small,
        ):  # fmt: skip
            part.set_look(styles, glyphs)

    def set_reduced_motion(self, reduced: bool) -> None:
        """Whether nothing shall blink or breathe."""
        self._reduced_motion = self.transcript.reduced_motion = reduced

    def toggle_sidebar(self) -> None:
        """Show or hide the panels, beside or over the conversation."""
        if self._shape and self._shape.wide:
            self._beside_wanted = not self._beside_wanted
        else:
            self._overlay_wanted = not self._overlay_wanted
        self._apply_layout()

    def widen_sidebar(self, step: int) -> bool:
        """Give the panels so many columns more, or fewer. False: there is no room for that."""
        before = self._shape or layout_of(self.app.size)
        wanted = before.sidebar_columns + step
        shape = layout_of(self.app.size, wanted)
        if shape.sidebar_columns == before.sidebar_columns:
            return False
        self.sidebar_wanted = 0 if wanted == shape.usual_columns else shape.sidebar_columns
        self._shape = shape
        self._apply_layout()
        return True

    @property
    def overlay_open(self) -> bool:
        """Whether the panels lie over the conversation now."""
        return bool(self._shape and not self._shape.wide and self._overlay_wanted)

    def on_resize(self, event: events.Resize) -> None:
        self._shape = layout_of(event.size, self.sidebar_wanted)
        self._apply_layout()

    @on(Moved)
    def _transcript_moved(self) -> None:
        self._show_status()

    def _errand_done(self) -> None:
        """What took too long for a frame is there now."""
        self.transcript.recolour()
        self.question_pane.set_look(self.status.look, self.status.glyphs)

    def _apply_layout(self) -> None:
        shape = self._shape or layout_of(self.app.size, self.sidebar_wanted)
        beside = shape.wide and self._beside_wanted
        self.sidebar.display = beside or self.overlay_open
        self.sidebar.styles.width = shape.sidebar_columns
        self.sidebar.set_overlaid(self.overlay_open)
        self.set_class(not beside, "-no-sidebar")
        self.set_class(shape.low, "-low")
        self.set_class(shape.cramped, "-cramped")
        self.set_class(shape.tiny, "-tiny")
        self.composer.set_flat(shape.flat)
        self.transcript.set_live_output(not beside)
        self.question_pane.set_hidden(shape.tiny)
        self.question_pane.refresh(layout=True)
        if self.focused and not is_displayed(self.focused):
            self.focus_input()  # at once: else Textual moves it to the nearest pane
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        """Move the focus out of a pane that the styles hide, and to the input where nothing has it."""
        if self.focused is None or not is_displayed(self.focused):
            self.focus_input()
        self._show_status()

    def focus_input(self) -> None:
        """Move the focus to where one writes or answers."""
        if self.question_pane.question:
            self.question_pane.take_focus()
        else:
            self.set_focus(self.prompt)

    def _begin_session(self, session_id: str) -> None:
        """What is drawn next is no continuation. The draft in the composer stays."""
        self._drawn_session = session_id
        self.transcript.begin()
        if isinstance(self.focused, Transcript):
            self.prompt.focus()

    def _show_what_asks(self, old: UiState) -> None:
        approval, asked = self.state.approval, self.state.asked
        open_question = self.question_pane.question
        if approval and approval is not old.approval:
            self.ask(approval_question(approval))
        elif asked and asked is not old.asked:
            self.ask(asked_question(asked))
        elif open_question and open_question.id in (APPROVAL, ASKED) and not (approval or asked):
            self.close_question()

    def _show_status(self) -> None:
        self.welcome.show_mode(self.session.mode)
        chip_in_view = self.transcript.viewport.key_chip_visible if self.state.pending else True
        self.status.show(
            self.state,
            chip_in_view=chip_in_view,
            pane_keys=self._pane_keys(),
            overlay_open=self.overlay_open,
        )

    def _pane_keys(self) -> tuple[tuple[str, str], ...]:
        """Keys of the focused pane and what they do; that of `stop` leads back where nothing runs."""
        if self.focused_place == "composer" and self.prompt.is_command:
            return ((shown("send"), "run in your shell"),)
        named = _PANE_KEYS.get(self.focused_place, ())
        if not self.transcript.cursor.can_fold:
            named = tuple(each for each in named if each[0] != ("fold",))
        keys = tuple((key, verb) for ids, verb in named if (key := _keys_for(ids)))
        if self.state.running or not named or self.focused_place == "search":
            return keys
        return (*keys, (shown("stop"), "back"))

    def _run_clock(self, running: bool) -> None:
        """One tick a second while a turn runs; when idle no timer at all, once all is tidied up."""
        if running and self._ticking is None:
            self._ticking = self.set_interval(1.0, self._tick)
            if self._cleaning:
                self._cleaning.stop()
        elif not running and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
            self._cleaning = self.set_timer(gc_policy.REST_SECONDS, gc_policy.collect)
            self._beat = True

    def _tick(self) -> None:
        self._beat = self._reduced_motion or not self._beat
        self.transcript.tick()
        self.sidebar.tick(self._beat)
        self.strip.tick(self._beat)
        self.status.tick(self._beat)


def _keys_for(action_ids: tuple[str, ...]) -> str:
    """The keys of actions that go together: `up, down`, `[ ]`."""
    actions = [BY_ID[action_id] for action_id in action_ids]
    keys = [shown_key(key) for action in actions for key in keys_of(action)[: 1 if action.bound else None]]
    return (" " if all(len(key) == 1 for key in keys) else ", ").join(keys)


def _model_of(session: SessionPort) -> ModelChanged:
    """The model of the beginning."""
    return ModelChanged(
        model=session.model,
        server=session.server,
        effort=session.effort,
        context_window=session.context_window,
    )
