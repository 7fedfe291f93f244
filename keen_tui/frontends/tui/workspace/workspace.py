"""What keys and answers do in the workspace: each action of the registry has its method here."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import ClassVar, get_args

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget

from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.actions import BY_ID
from keen_tui.frontends.shared.commands import Called
from keen_tui.frontends.tui.keys.keymap import bindings, shown
from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.questions.approval import APPROVAL, SCOPES
from keen_tui.frontends.tui.questions.asking import ASKED
from keen_tui.frontends.tui.questions.confirm import (
    DISCARD,
    IN_USE,
    LEAVE,
    MEMORY,
    REPLACE,
    SWITCH,
    discard_question,
    leave_question,
)
from keen_tui.frontends.tui.questions.permissions import PERMISSIONS
from keen_tui.frontends.tui.questions.question_pane import QuestionPane
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal.announcer import Announcer
from keen_tui.frontends.tui.widgets.composer import SHELL_SIGN, Prompt
from keen_tui.frontends.tui.workspace.change_actions import ChangeActions
from keen_tui.frontends.tui.workspace.copy_actions import CopyActions
from keen_tui.frontends.tui.workspace.detail_actions import DetailActions
from keen_tui.frontends.tui.workspace.history_actions import HistoryActions
from keen_tui.frontends.tui.workspace.memory_actions import MemoryActions
from keen_tui.frontends.tui.workspace.moving_actions import MovingActions
from keen_tui.frontends.tui.workspace.permission_actions import PermissionActions
from keen_tui.frontends.tui.workspace.settings_actions import SettingsActions
from keen_tui.frontends.tui.workspace.shell_actions import ShellActions
from keen_tui.frontends.tui.workspace.sidebar_actions import SidebarActions
from keen_tui.frontends.tui.workspace.stage import Stage
from keen_tui.frontends.tui.workspace.tip_actions import TipActions
from keen_tui.settings.custom_commands import CustomCommand, expanded
from keen_tui.text.labels import MODES

AGAIN_WITHIN_SECONDS = 2.0
"""How soon the second key to leave, or to stop, must follow the first."""

_MODES: tuple[Mode, ...] = get_args(Mode)
_OF_PANELS = {"show_row": "show", "open_row": "open_file", "diff_row": "show_changes"}
"""What the panels call the actions of the registry that they handle themselves."""


class WorkspaceScreen(
    ChangeActions,
    CopyActions,
    DetailActions,
    HistoryActions,
    MemoryActions,
    MovingActions,
    PermissionActions,
    SettingsActions,
    ShellActions,
    SidebarActions,
    TipActions,
    Stage,
):
    """Turns keys, answers and palette commands into calls on the session."""

    CSS_PATH = "../look/keen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("anywhere")]

    _last_interrupt = float("-inf")
    _last_escape = float("-inf")

    def run(self, action_id: str, words: str = "") -> None:
        """Run the action of that id, with the words that it may take."""
        if action_id == "stop":
            self.leave_find()  # esc means the search first, the name means the turn
        self.used(action_id)
        method = getattr(self, f"action_{action_id}")
        done = method(words) if BY_ID[action_id].takes else method()
        if isawaitable(done):
            self.call_next(lambda: done)

    def run_in_pane(self, action: Action) -> None:
        """Go to the pane of that action and run it there, once the focus has arrived."""
        pane: Widget
        if action.where == "panels":
            if not self.sidebar.display:
                self.toggle_sidebar()
            pane, name = self.sidebar.activity, _OF_PANELS[action.id]
        else:
            pane, name = (self.prompt if action.where == "composer" else self.transcript), action.id
        self.set_focus(pane)
        self.call_after_refresh(pane.run_action, name)

    def offer_command(self, name: str) -> None:
        """Send a command of one's own, or have its words written first where it takes some."""
        called = self.commands.called(f"/{name}")
        if called and isinstance(called.what, CustomCommand):
            if called.what.hint:
                self.prompt.write(f"/{name} ")
            else:
                self._submit(expanded(called.what, ""), f"/{name}")

    announcer: Announcer | None = None
    """Tells what happens outside of the screen too."""

    def show(self, state: UiState) -> None:
        before = self.state
        super().show(state)
        if self.announcer:
            self.announcer.show(state)
        if state.taken_back and state.taken_back != before.taken_back and not state.restoring:
            self._put_back(state.taken_back)
        if state.unsent and state.session_id != before.session_id:
            self._put_back("\n".join(state.unsent))

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode."""
        self._ask_session(lambda: self.session.set_mode(mode))
        if self.session.mode == mode:
            self.say(f"Mode {mode}: {MODES[mode]}.")

    # The turn

    def action_stop(self) -> None:
        """Decline what is asked; else stop what runs; else go back to the composer, and twice in a row clear
        it."""
        if self.close_completions():
            return
        if self.leave_find() or self.question_pane.back():
            return
        question = self.question_pane.question
        again = self._again_since(self._last_escape)
        self._last_escape = self.clock()
        if question and question.id in (APPROVAL, ASKED):
            self._decline(again=again)
        elif question:
            self.close_question()
        else:
            was_running = self.session.running
            self.session.stop()  # a replay plays on although nothing runs
            if not was_running:
                self._back_to_prompt(again=again)

    def action_interrupt(self) -> None:
        """Copy what is selected; else stop, or put away what is written; the second time leave."""
        if self.copy_selected() or self._put_away_draft():
            return
        again = self._again_since(self._last_interrupt)
        self._last_interrupt = self.clock()
        question = self.question_pane.question
        if question and question.id == LEAVE:
            if not self.question_pane.guarded:
                self.app.exit()
        elif again:
            self.action_leave()
        elif self.session.running:
            self.session.stop()
            self.say_in_turn(f"stopping; {shown('interrupt')} again leaves")
        else:
            self.say(f"{shown('interrupt')} again leaves")

    def _put_away_draft(self) -> bool:
        """Clear a composer that is written in while nothing runs. False: there is nothing to clear."""
        if self.session.running or not self.prompt.has_focus or not self.prompt.text.strip():
            return False
        self.prompt.clear_away()
        self.say(f"cleared; up brings it back, {shown('interrupt')} leaves")
        return True

    def action_steer(self, words: str = "") -> None:
        """Hand in what is written, else the oldest message that is queued."""
        text = words or self.prompt.written
        if text.strip() and not words:
            self.prompt.put_away()
        is_call = text.startswith(SHELL_SIGN) or self.commands.called(text) is not None
        if not text.strip() and not (self.session.queue and self.state.turn_running):
            self.say("Write a message for the running turn first.")
        elif self.lacks_model or is_call:
            self._send(Prompt.Sent(text))
        else:
            if not words:
                self.note_sent(text)
            self._ask_session(lambda: self.session.steer(text))

    def action_retry(self) -> None:
        """Go on with the incomplete or failed turn."""
        self._close_own_question()
        self.retry()

    def action_discard(self) -> None:
        """Ask whether to give the incomplete turn up; take a failed message back at once."""
        pending = self.session.pending
        if pending and not self.session.running:
            self.ask(discard_question(pending))
        else:
            self._ask_session(self.session.discard)

    def action_next_mode(self) -> None:
        """The next permission mode."""
        place = _MODES.index(self.session.mode)
        self.set_mode(_MODES[(place + 1) % len(_MODES)])

    async def action_suspend(self) -> None:
        """Give the terminal back to the shell."""
        await self.app.run_action("suspend")

    def action_leave(self) -> None:
        """Leave; asks first where a turn runs or an incomplete one waits."""
        if self.session.running or self.session.pending:
            pending, running = self.session.pending, self.session.running
            self.ask(leave_question(pending, running=running, durable=self.keeps_pending))
        else:
            self.app.exit()

    # The screen

    def action_sidebar(self) -> None:
        """Show or hide the panels."""
        self.toggle_sidebar()

    def action_fold_memory(self) -> None:
        """Fold or unfold TurnMemory."""
        memory = self.sidebar.turn_memory
        memory.folded = not memory.folded
        self.sidebar.share_height()

    def action_palette(self) -> None:
        """Open the command palette, or close it."""
        from keen_tui.frontends.tui.pages.palette import Palette, PaletteEntry  # noqa: PLC0415 - not before the first paint
        from keen_tui.frontends.tui.pages.palette_entries import palette_entries  # noqa: PLC0415

        if isinstance(self.app.screen, Palette):
            self.app.screen.dismiss(None)
            return

        def chosen(entry: PaletteEntry | None) -> None:
            if entry:
                entry.run()

        entries = palette_entries(self, self.theme_names)
        self.app.push_screen(Palette(self.status.look, self.status.glyphs, entries), chosen)

    def action_help(self) -> None:
        """Open the help page."""
        from keen_tui.frontends.tui.pages.help import HelpScreen  # noqa: PLC0415 - not before the first paint

        page = HelpScreen(self.status.look, self.status.glyphs, self.focused_place, self.commands.custom)
        self.app.push_screen(page)

    # Messages of the panes

    @on(Prompt.Sent)
    def _send(self, message: Prompt.Sent) -> None:
        is_own = message.text.startswith(SHELL_SIGN)
        called = None if is_own else self.commands.called(message.text)
        if self.is_replacing and (called is None or isinstance(called.what, CustomCommand)):
            self.hold(message.text)
            return
        self.note_sent(message.text)
        if is_own:
            self.run_own_command(message.text)
        elif called is None:
            self._submit(message.text, message.text)
        else:
            self._call(called, message.text)

    def _call(self, called: Called, typed: str) -> None:
        if called.refusal:
            self.prompt.write(typed)
            self.say(called.refusal)
            return
        match called.what:
            case Action():
                self.run(called.what.id, called.words)
                self.prompt.suggest_again()
            case CustomCommand():
                self._submit(expanded(called.what, called.words), typed)
            case None:
                self.prompt.write(typed)
                nearest = self.commands.nearest(called.name)
                self.say(f"There is no command /{called.name}. Did you mean /{nearest}?")

    def _submit(self, text: str, typed: str) -> None:
        """Send the text. What was `typed` for it comes back where it can't be sent."""
        if self.lacks_model:
            self.prompt.write(typed)
            self.begin("Your message waits in the composer until you have chosen.")
        else:
            self.prompt.suggested = ""
            self.transcript.action_scroll_end()
            self._ask_session(lambda: self.session.submit(text))

    @on(Prompt.QueuedWanted)
    def _edit_queued(self) -> None:
        text = self.session.withdraw_queued()
        if text is not None:
            self.prompt.write_before(text)

    @on(Prompt.LeaveWanted)
    def _leave_from_prompt(self) -> None:
        self.action_leave()

    @on(Panel.Chosen)
    def _reveal(self, message: Panel.Chosen) -> None:
        if self.overlay_open:
            self.toggle_sidebar()
        self.transcript.focus()
        self.transcript.reveal(message.turn, message.call_id)

    @on(QuestionPane.Answered)
    def _answered(self, message: QuestionPane.Answered) -> None:
        asked, choice = message.question.id, message.choice.id
        if message.question is not self.question_pane.question:  # it was settled, or another one came
            self.prompt.go_on(message.words)
        elif asked == APPROVAL:
            self._answer_approval(choice, message.words)
        elif asked == ASKED:
            self._reply(int(choice), message.words)
        elif asked == DISCARD:
            self._answer_discard(choice)
        elif asked == LEAVE:
            self._answer_leave(choice)
        elif asked == SWITCH:
            self.answer_switch(choice)
        elif asked == REPLACE:
            self.answer_replace(choice)
        elif asked == IN_USE:
            self.answer_in_use(choice)
        elif asked == MEMORY:
            self.answer_memory(choice)
        elif asked == PERMISSIONS:
            self.answer_permissions(choice)

    def _answer_approval(self, choice: str, words: str) -> None:
        approval = self.state.approval
        if approval is None:
            return
        if choice == "stop":
            self.session.stop()
            return
        self._ask_session(
            lambda: self.session.answer(
                approval.id,
                allow=choice in SCOPES,
                scope=SCOPES.get(choice, "once"),
                message=words,
            )
        )

    def _reply(self, choice: int | None, words: str = "") -> None:
        """Answer what the model asks."""
        if asked := self.state.asked:
            self._ask_session(lambda: self.session.reply(asked.id, choice, words))

    def _decline(self, *, again: bool) -> None:
        """esc declines what the turn asks, but not before one can have seen it; twice in a row stops the
        turn."""
        if again:
            self.session.stop()
        elif self.question_pane.guarded:
            return
        elif self.state.approval:
            self._answer_approval("no", "")
        else:
            self._reply(None)

    def _answer_discard(self, choice: str) -> None:
        self.close_question()
        if choice == "discard":
            self._ask_session(self.session.discard)
        elif choice == "retry":
            self.retry()

    def _answer_leave(self, choice: str) -> None:
        if choice == "leave":
            self.app.exit()
            return
        self.close_question()
        if choice == "retry":
            self.retry()

    # Helpers

    def forget_notice(self) -> None:
        """A key was pressed: the notice has been read."""
        self.notice.text = ""

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted while the focus is elsewhere belongs to the composer."""
        if not self.question_pane.question and not self.prompt.has_focus:
            self.prompt.focus()
            self.prompt.post_message(events.Paste(event.text))

    def _put_back(self, text: str) -> None:
        """A message came back: it stands before what has been written since."""
        self.prompt.write_before(text)

    def _back_to_prompt(self, *, again: bool) -> None:
        """esc while nothing runs: unselects, then leads to the composer; there, the second one clears it."""
        if not self.transcript.selection.is_empty:
            self.clear_selection()
        elif not self.prompt.has_focus:
            self.prompt.focus()
        elif self.prompt.text and again:
            self.prompt.put_away()
        elif self.prompt.text:
            self.say(f"{shown('stop')} again clears what you wrote")

    def _close_own_question(self) -> None:
        question = self.question_pane.question
        if question and question.id not in (APPROVAL, ASKED):
            self.close_question()

    def _again_since(self, before: float) -> bool:
        return self.clock() - before <= AGAIN_WITHIN_SECONDS

    def _ask_session(self, deed: Callable[[], None]) -> None:
        """Do it; what the session refuses becomes the notice."""
        try:
            deed()
        except SessionRefused as refused:
            self.say(str(refused))
