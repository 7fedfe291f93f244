"""The part of the workspace that is about sessions: new, open, fork, rename, export, compact."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path

from msgspec import Struct
from textual.timer import Timer

from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.errors import KeenError, SessionInUse
from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.shared.port import HistoryPort
from keen_tui.frontends.shared.session_arguments import export_words, fork_words
from keen_tui.frontends.tui.pages.sessions.lines import shown_title
from keen_tui.frontends.tui.pages.sessions.values import Chosen
from keen_tui.frontends.tui.questions.confirm import in_use_question, replace_question
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.widgets.composer import Prompt
from keen_tui.frontends.tui.workspace.find_actions import FindActions

OPENING_SECONDS = 0.2
"""How long opening a session may take before that is said."""

_OPENING = "opening the session"
_NONE_KEPT = "No sessions are kept here."


class _Replacement(Struct, frozen=True):
    """What puts another session on the screen. `title` asks for it, `opens` is the session it opens, `turn`
    the one to show there, and `words` what it was found by."""

    title: str
    deed: Callable[[], Awaitable[None]]
    opens: SavedSession | None = None
    turn: int = 0
    words: str = ""


class HistoryActions(FindActions):
    """Does what the commands about sessions ask for. What comes of it arrives as events."""

    _wanted_session: _Replacement | None = None
    _replacing = False
    _opening: Timer | None = None
    _place_to_show: _Replacement | None = None
    _held: tuple[str, ...] = ()

    @property
    def is_replacing(self) -> bool:
        """Whether another session is about to take the place of this one."""
        return self._replacing

    def hold(self, text: str) -> None:
        """Keep a message until the session that it is meant for is open, and send it then."""
        self._held = (*self._held, text)

    def show(self, state: UiState) -> None:
        before = self.state
        super().show(state)
        if state.restoring:
            self._tell_when_slow()
        elif before.restoring or before.session_id != state.session_id:
            self._tell_no_more()
        if self._place_to_show and not state.restoring:
            self._show_place(self._place_to_show, state)

    def action_sessions(self, words: str = "") -> None:
        """Open the list of sessions."""
        if history := self._kept_history():
            from keen_tui.frontends.tui.pages.sessions.screen import SessionsScreen  # noqa: PLC0415 - not before the first paint

            look, glyphs = self.status.look, self.status.glyphs
            self.app.push_screen(SessionsScreen(look, glyphs, history, query=words), self._chosen)

    def go_on_with(self, session: SavedSession) -> None:
        """Open a session that was asked for before there was a screen."""
        if history := self._kept_history():
            self._replace(_Replacement("", lambda: history.open(session.id), session))

    def action_new_session(self) -> None:
        """Begin an empty session."""
        if history := self._kept_history():
            self._replace(_Replacement("Begin a new session?", history.new))

    def action_fork(self, words: str) -> None:
        """Go on with a copy of this session, whole or up to a turn."""
        if history := self._kept_history():
            try:
                turn = fork_words(words, tuple(row.turn for row in self.state.turns))
            except KeenError as error:
                self._refuse(f"/fork {words}", error)
                return
            part = f"up to turn {turn}" if turn else "of this session"
            self._replace(_Replacement(f"Continue in a copy {part}?", lambda: history.fork(turn=turn)))

    def action_rename(self, words: str) -> None:
        """Give this session a title; without one, let it be written."""
        if history := self._kept_history():
            if words:
                self._do(_renamed(history, words))
            else:
                self.prompt.write(f"/rename {self.header.title}")
                self.say("write the title, then press enter")

    def action_export(self, words: str) -> None:
        """Write this session to a file."""
        if history := self._kept_history():
            try:
                format, path = export_words(words)
            except KeenError as error:
                self._refuse(f"/export {words}", error)
                return
            self._do(_exported(history, format, path, self.session.workspace))

    def action_compact(self, words: str) -> None:
        """Have the conversation summarised."""
        try:
            self.session.compact(words)
        except KeenError as refused:
            self.say(str(refused))

    def answer_replace(self, choice: str) -> None:
        """The answer to whether the incomplete turn shall be abandoned for another session."""
        self.close_question()
        wanted, self._wanted_session = self._wanted_session, None
        if choice == "replace" and wanted:
            self._begin_replacing(wanted)
        elif choice == "retry":
            self.retry()

    def answer_in_use(self, choice: str) -> None:
        """The answer to what shall become of a session that another program has open."""
        self.close_question()
        wanted, self._wanted_session = self._wanted_session, None
        if choice == "fork" and wanted and wanted.opens and self.history:
            self._begin_replacing(_forking(self.history, wanted.opens, 0))

    def _chosen(self, chosen: Chosen | None) -> None:
        """What was chosen in the list. Nothing was lost by choosing yet: the first question is asked here."""
        if chosen is None or self.history is None:
            return
        session, turn = chosen.session, chosen.turn
        if chosen.fork:
            self._replace(_forking(self.history, session, turn))
        elif session.id == self.history.session_id:
            if turn:
                self.show_turn(turn, chosen.words)
        else:
            open_it = self.history.open
            title = f"Open {shown_title(session)}?"
            self._replace(_Replacement(title, lambda: open_it(session.id), session, turn, chosen.words))

    def _replace(self, wanted: _Replacement) -> None:
        """Put another session on the screen; where that would lose work, ask first."""
        if pending := self.session.pending:
            self._wanted_session = wanted
            self.ask(replace_question(pending, wanted.title, running=self.session.running))
        else:
            self._begin_replacing(wanted)

    def _begin_replacing(self, wanted: _Replacement) -> None:
        if self._replacing:
            self.say("another session is being opened already")
        else:
            self._replacing = True
            self.run_worker(self._replaced(wanted), name="replace-session", group="replace-session")

    async def _replaced(self, wanted: _Replacement) -> None:
        self._tell_when_slow()
        self._place_to_show = wanted if wanted.turn else None
        try:
            await wanted.deed()
            self._replacing = False
            self._send_held()
        except KeenError as error:
            self._place_to_show = None
            self._tell_no_more()
            self._put_held_back()
            self._not_replaced(wanted, error)
        finally:
            self._replacing = False

    def _send_held(self) -> None:
        held, self._held = self._held, ()
        for text in held:
            self.prompt.post_message(Prompt.Sent(text))

    def _put_held_back(self) -> None:
        """They were meant for a session that could not be opened."""
        held, self._held = self._held, ()
        if held:
            self.prompt.write_before("\n".join(held))

    def _not_replaced(self, wanted: _Replacement, why: KeenError) -> None:
        if isinstance(why, SessionInUse) and wanted.opens:
            self._wanted_session = wanted
            self.ask(in_use_question(shown_title(wanted.opens)))
        else:
            self.say(str(why))

    def _show_place(self, wanted: _Replacement, state: UiState) -> None:
        """Show what was found, as soon as it is there: of a long session only the newest turns come first."""
        is_there = wanted.opens is not None and wanted.opens.id == state.session_id
        if state.running or (is_there and self.show_turn(wanted.turn, wanted.words)):
            self._place_to_show = None

    def _tell_when_slow(self) -> None:
        if self._opening is None:
            self._opening = self.set_timer(OPENING_SECONDS, lambda: self.say(_OPENING))

    def _tell_no_more(self) -> None:
        if self._opening is not None:
            self._opening.stop()
            self._opening = None
            if self.notice.text == _OPENING:
                self.say("")

    def _kept_history(self) -> HistoryPort | None:
        """The saved sessions; says so where there are none."""
        if self.history is None:
            self.say(_NONE_KEPT)
        return self.history

    def _refuse(self, written: str, why: KeenError) -> None:
        """Words that say nothing: they come back into the composer."""
        self.prompt.write(written.strip())
        self.say(str(why))

    def _do(self, deed: Coroutine[None, None, str]) -> None:
        """Do it beside everything else, and say the sentence that comes of it."""

        async def done() -> None:
            try:
                self.say(await deed)
            except KeenError as error:
                self.say(str(error))

        self.run_worker(done(), name="history", group="history")


async def _renamed(history: HistoryPort, title: str) -> str:
    await history.rename(history.session_id, title)
    return ""


async def _exported(history: HistoryPort, format: ExportFormat, path: str, workspace: Path) -> str:
    file = await history.export(format, path)
    return f"exported to {file.relative_to(workspace) if file.is_relative_to(workspace) else file}"


def _forking(history: HistoryPort, session: SavedSession, turn: int) -> _Replacement:
    place = f" up to turn {turn}" if turn else ""
    title = f"Go on with a copy of {shown_title(session)}{place}?"
    return _Replacement(title, lambda: history.fork(session.id, turn))
