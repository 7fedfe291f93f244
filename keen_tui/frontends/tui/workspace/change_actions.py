"""The part of the workspace that is about changes: reading them, taking them back."""

from __future__ import annotations

import asyncio

from textual import on

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.port import HistoryPort
from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.state.places import Named
from keen_tui.frontends.tui.workspace.open_actions import OpenActions

_WHOLE_SESSION = 0
_NEWEST = -1


class ChangeActions(OpenActions):
    """Opens the screen of changes, and does what was chosen there."""

    def action_diff(self, words: str = "") -> None:
        """Show what a turn changed, or the session."""
        self._open_changes("diff", words, _WHOLE_SESSION, asks=False)

    def action_undo(self, words: str = "") -> None:
        """Ask whether to take back what a turn changed."""
        if self.session.running:
            self.say("A turn is running. Stop it first, then undo.")
        elif self.session.pending:
            self.say("An incomplete turn waits: retry or discard it first, then undo.")
        else:
            self._open_changes("undo", words, _NEWEST, asks=True)

    @on(Panel.FileWanted)
    def _open_of_row(self, message: Panel.FileWanted) -> None:
        """The file of a call, or the one that a turn changed; of several the diff is shown to choose from."""
        if message.call_id is not None:
            if block := self.call_of(message.call_id):
                self.open_of(block)
            return
        rows = (row for row in self.state.turns if row.turn == message.turn)
        files = next((row.memory.files_changed for row in rows), ())
        if len(files) == 1:
            work = self.open_and_say(Named(files[0], by_call=True))
            self.run_worker(work, name="editor", group="editor", exclusive=True)
        else:
            self.action_diff(str(message.turn))

    @on(Panel.ChangesWanted)
    def _show_changes_of_row(self, message: Panel.ChangesWanted) -> None:
        if message.turn:
            self.action_diff(str(message.turn))
        else:
            self.say("No turn has changed anything yet.")

    def _open_changes(self, command: str, words: str, usual: int, *, asks: bool) -> None:
        if self.history is None:
            self.say("No changes are kept here.")
        elif words and not (words.isdecimal() and int(words)):
            self.prompt.write(f"/{command} {words}")
            self.say(f"/{command} takes the number of a turn, or nothing.")
        else:
            turn = int(words) if words else usual
            work = self._load_changes(self.history, turn, asks=asks)
            self.run_worker(work, name="changes", exclusive=True, group="changes")

    async def _load_changes(self, history: HistoryPort, turn: int, *, asks: bool) -> None:
        from keen_tui.frontends.shared.changes import shown_files  # noqa: PLC0415
        from keen_tui.frontends.tui.pages.changes.screen import ChangesScreen  # noqa: PLC0415 - not before the first paint

        try:
            changes = await history.changes(turn)
        except KeenError as error:
            self.say(str(error))
            return
        if nothing := _why_nothing(changes, asks=asks):
            self.say(nothing)
            return
        files = await asyncio.to_thread(shown_files, changes)
        screen = ChangesScreen(
            self.status.look, self.status.glyphs, changes, files, asks=asks, opener=self.open_file
        )

        def answered(undo: bool | None) -> None:
            if undo:
                self.run_worker(self._take_back(history, changes.turn), name="undo")

        self.app.push_screen(screen, answered)

    async def _take_back(self, history: HistoryPort, turn: int) -> None:
        try:
            self.say(await history.undo(turn))
        except KeenError as error:
            self.say(str(error))


def _why_nothing(changes: Changes, *, asks: bool) -> str:
    """Why there is nothing to open, "" when there is."""
    if asks and changes.undone:
        return f"The changes of turn {changes.turn} are undone already."
    if changes.files:
        return ""
    whose = f"Turn {changes.turn}" if changes.turn else "This session"
    bash = " Changes made by shell commands can't be undone." if changes.commands else ""
    return f"{whose} changed no files.{bash}"
