"""The commands about changes: reading them, undoing them."""

from __future__ import annotations

import asyncio

from keen_tui.domain.errors import KeenError
from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.port import ChangesPort
from keen_tui.frontends.tui.workspace.open import PlaceOpener
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_WHOLE_SESSION = 0
_NEWEST = -1


class ChangeCommands:
    """Opens the page of changes, and does what was chosen there."""

    def __init__(self, view: WorkspaceView, changes: ChangesPort | None, opener: PlaceOpener) -> None:
        self._view = view
        self._changes = changes
        self._opener = opener

    def diff(self, words: str = "") -> None:
        """Show what a turn changed, or the session."""
        self._open("diff", words, _WHOLE_SESSION, asks=False)

    def undo(self, words: str = "") -> None:
        """Ask whether to undo what a turn changed."""
        if self._view.session.running:
            self._view.say("A turn is running. Stop it first, then undo.")
        elif self._view.session.pending:
            self._view.say("An incomplete turn waits: retry or discard it first, then undo.")
        else:
            self._open("undo", words, _NEWEST, asks=True)

    def diff_of(self, turn: int) -> None:
        """Show what a turn changed; 0 for none."""
        if turn:
            self.diff(str(turn))
        else:
            self._view.say("No turn has changed anything yet.")

    def open_file_of(self, turn: int, call_id: str | None) -> None:
        """Open the file of a call, or the one that a turn changed; of several the diff is shown to choose
        from."""
        if call_id is not None:
            self._opener.open_of_call(call_id)
            return
        rows = (row for row in self._view.state.turns if row.turn == turn)
        files = next((row.memory.files_changed for row in rows), ())
        if len(files) == 1:
            self._opener.open_path(files[0])
        else:
            self.diff(str(turn))

    def _open(self, command: str, words: str, usual: int, *, asks: bool) -> None:
        if self._changes is None:
            self._view.say("No changes are kept here.")
        elif words and not (words.isdecimal() and int(words)):
            self._view.prompt.write(f"/{command} {words}")
            self._view.say(f"/{command} takes the number of a turn, or nothing.")
        else:
            turn = int(words) if words else usual
            self._view.work(self._load(self._changes, turn, asks=asks), "changes", instead=True)

    async def _load(self, port: ChangesPort, turn: int, *, asks: bool) -> None:
        from keen_tui.frontends.shared.changes import shown_files  # noqa: PLC0415
        from keen_tui.frontends.tui.pages.changes.screen import ChangesScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        try:
            changes = await port.changes(turn)
        except KeenError as error:
            view.say(str(error))
            return
        if nothing := _why_nothing(changes, asks=asks):
            view.say(nothing)
            return
        files = await asyncio.to_thread(shown_files, changes)
        page = ChangesScreen(view.look, view.glyphs, changes, files, asks=asks, opener=self._opener.open_file)

        def answered(undo: bool | None) -> None:
            if undo:
                view.work(self._undo(port, changes.turn), "undo")

        view.open_page(page, answered)

    async def _undo(self, port: ChangesPort, turn: int) -> None:
        try:
            self._view.say(await port.undo(turn))
        except KeenError as error:
            self._view.say(str(error))


def _why_nothing(changes: Changes, *, asks: bool) -> str:
    """Why there is nothing to open, "" when there is."""
    if asks and changes.undone:
        return f"The changes of turn {changes.turn} are undone already."
    if changes.files:
        return ""
    whose = f"Turn {changes.turn}" if changes.turn else "This session"
    bash = " Changes made by shell commands can't be undone." if changes.commands else ""
    return f"{whose} changed no files.{bash}"
