"""The commands about sessions: new, open, fork, rename, export. What comes of them arrives as events."""

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
from keen_tui.frontends.tui.workspace.find import FindRow
from keen_tui.frontends.tui.workspace.view import WorkspaceView

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


class SessionSwitch:
    """Puts other sessions on the screen. Messages that are sent meanwhile are held for the session that
    comes."""

    def __init__(self, view: WorkspaceView, history: HistoryPort | None, find: FindRow) -> None:
        self._view = view
        self._history = history
        self._find = find
        self._replacing = False
        self._opening: Timer | None = None
        self._place_to_show: _Replacement | None = None
        self._held: tuple[str, ...] = ()

    @property
    def is_replacing(self) -> bool:
        """Whether another session is about to take the place of this one."""
        return self._replacing

    def hold(self, text: str) -> None:
        """Keep a message until the session that it is meant for is open, and send it then."""
        self._held = (*self._held, text)

    def show(self, before: UiState, after: UiState) -> None:
        """Another state is drawn."""
        if after.restoring:
            self._tell_when_slow()
        elif before.restoring or before.session_id != after.session_id:
            self._tell_no_more()
        if self._place_to_show and not after.restoring:
            self._show_place(self._place_to_show, after)

    def resume(self, words: str = "") -> None:
        """Open the list of sessions."""
        if history := self._kept_history():
            from keen_tui.frontends.tui.pages.sessions.screen import SessionsScreen  # noqa: PLC0415 - not before the first paint

            page = SessionsScreen(self._view.look, self._view.glyphs, history, query=words)
            self._view.open_page(page, self._chosen)

    async def open(self, session: SavedSession) -> None:
        """Open a session that was asked for before there was a screen."""
        if history := self._kept_history():
            await self._replace(_Replacement("", lambda: history.open(session.id), session))

    async def new(self) -> None:
        """Begin an empty session."""
        if history := self._kept_history():
            await self._replace(_Replacement("Begin a new session?", history.new))

    async def fork(self, words: str) -> None:
        """Go on with a copy of this session, whole or up to a turn."""
        if history := self._kept_history():
            try:
                turn = fork_words(words, tuple(row.turn for row in self._view.state.turns))
            except KeenError as error:
                self._refuse(f"/fork {words}", error)
                return
            part = f"up to turn {turn}" if turn else "of this session"
            await self._replace(_Replacement(f"Continue in a copy {part}?", lambda: history.fork(turn=turn)))

    def rename(self, words: str) -> None:
        """Give this session a title; without one, let it be written."""
        if history := self._kept_history():
            if words:
                self._do(_renamed(history, words))
            else:
                self._view.prompt.write(f"/rename {self._view.header.title}")
                self._view.say("write the title, then press enter")

    def export(self, words: str) -> None:
        """Write this session to a file."""
        if history := self._kept_history():
            try:
                format, path = export_words(words)
            except KeenError as error:
                self._refuse(f"/export {words}", error)
                return
            self._do(_exported(history, format, path, self._view.session.workspace))

    async def _chosen(self, chosen: Chosen | None) -> None:
        """What was chosen in the list. Nothing was lost by choosing yet: the first question is asked here."""
        if chosen is None or self._history is None:
            return
        session, turn = chosen.session, chosen.turn
        if chosen.fork:
            await self._view.start(self._replace(_forking(self._history, session, turn)))
        elif session.id == self._history.session_id:
            if turn:
                self._find.show_turn(turn, chosen.words)
        else:
            open_it = self._history.open
            title = f"Open {shown_title(session)}?"
            wanted = _Replacement(title, lambda: open_it(session.id), session, turn, chosen.words)
            await self._view.start(self._replace(wanted))

    async def _replace(self, wanted: _Replacement) -> None:
        """Put another session on the screen; where that would lose work, ask first."""
        view = self._view
        if pending := view.session.pending:
            question = replace_question(pending, wanted.title, running=view.session.running)
            choice = await view.ask(question)
            if choice == "retry":
                view.attempt(view.session.retry)
            if choice != "replace":
                return
        await self._begin_replacing(wanted)

    async def _begin_replacing(self, wanted: _Replacement) -> None:
        if self._replacing:
            self._view.say("another session is being opened already")
            return
        self._replacing = True
        try:
            problem = await self._replaced(wanted)
        finally:
            self._replacing = False
        if isinstance(problem, SessionInUse) and wanted.opens and self._history:
            if await self._view.ask(in_use_question(shown_title(wanted.opens))) == "fork":
                await self._begin_replacing(_forking(self._history, wanted.opens, 0))
        elif problem:
            self._view.say(str(problem))

    async def _replaced(self, wanted: _Replacement) -> KeenError | None:
        """Do it. Gives why it could not be done."""
        self._tell_when_slow()
        self._place_to_show = wanted if wanted.turn else None
        try:
            await wanted.deed()
        except KeenError as error:
            self._place_to_show = None
            self._tell_no_more()
            self._put_held_back()
            return error
        self._replacing = False
        self._send_held()
        return None

    def _send_held(self) -> None:
        held, self._held = self._held, ()
        for text in held:
            self._view.prompt.post_message(Prompt.Sent(text))

    def _put_held_back(self) -> None:
        """They were meant for a session that could not be opened."""
        held, self._held = self._held, ()
        if held:
            self._view.prompt.write_before("\n".join(held))

    def _show_place(self, wanted: _Replacement, state: UiState) -> None:
        """Show what was found, as soon as it is there: of a long session only the newest turns come first."""
        is_there = wanted.opens is not None and wanted.opens.id == state.session_id
        if state.running or (is_there and self._find.show_turn(wanted.turn, wanted.words)):
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

    def _kept_history(self) -> HistoryPort | None:
        """The saved sessions; says so where there are none."""
        if self._history is None:
            self._view.say(_NONE_KEPT)
        return self._history

    def _refuse(self, written: str, why: KeenError) -> None:
        """Words that say nothing: they come back into the composer."""
        self._view.prompt.write(written.strip())
        self._view.say(str(why))

    def _do(self, deed: Coroutine[None, None, str]) -> None:
        """Do it beside everything else, and say the sentence that comes of it."""

        async def done() -> None:
            try:
                self._view.say(await deed)
            except KeenError as error:
                self._view.say(str(error))

        self._view.work(done(), "history")


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
