"""The list of sessions, and the choice in it."""

from __future__ import annotations

from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.shared.commands.sessions import open_session, replace, saved
from keen_tui.frontends.shared.pages import SessionsPage
from keen_tui.frontends.tui.commands.command_runner import CommandRunner
from keen_tui.frontends.tui.commands.switch import SessionSwitch
from keen_tui.frontends.tui.pages.sessions.lines import Chosen, shown_title
from keen_tui.frontends.tui.workspace.find import FindRow
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class SessionPages:
    """Opens the list of sessions and acts on the choice."""

    def __init__(
        self, view: WorkspaceView, commands: CommandRunner, switch: SessionSwitch, find: FindRow
    ) -> None:
        self._view = view
        self._commands = commands
        self._switch = switch
        self._find = find

    def choose(self, page: SessionsPage) -> None:
        """Open the list of sessions."""
        from keen_tui.frontends.tui.pages.sessions.screen import SessionsScreen  # noqa: PLC0415 - not before the first paint

        screen = SessionsScreen(self._view.look, self._view.glyphs, page.history, query=page.words)
        self._view.open_page(screen, self._chosen)

    async def open(self, session: SavedSession, turn: int = 0, words: str = "") -> None:
        """Open a session, and show one of its turns (0 for none) with the words of the search."""
        history = saved(self._commands.context)

        async def opened() -> None:
            self._switch.show_when_open(session.id, turn, words)
            await history.open(session.id)

        await open_session(self._commands.context, session, shown_title(session), opened)

    async def fork(self, session: SavedSession, turn: int) -> None:
        """Continue in a copy of a session, whole or up to a turn."""
        context = self._commands.context
        place = f" up to turn {turn}" if turn else ""
        title = f"Continue in a copy of {shown_title(session)}{place}?"
        await replace(context, title, lambda: saved(context).fork(session.id, turn))

    async def _chosen(self, chosen: Chosen | None) -> None:
        """Act on the choice in the list. Nothing is lost yet: the first question comes here."""
        if chosen is None:
            return
        session, turn = chosen.session, chosen.turn
        if chosen.fork:
            await self._commands.attempt(self.fork(session, turn))
        elif session.id != saved(self._commands.context).session_id:
            await self._commands.attempt(self.open(session, turn, chosen.words))
        elif turn:
            self._find.show_turn(turn, chosen.words)
