"""The changes that a session's turns made, compared with the disk, and how to undo them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.file_changes import FileChange
from keen_tui.domain.reports import Changes, FileVersions
from keen_tui.storage.checkpoints.blobs import hash_of
from keen_tui.storage.checkpoints.checkpoints import UNKNOWN, Checkpoints, KeptFile, TakenBack
from keen_tui.storage.outputs import OutputFiles
from keen_tui.system.safe_read import content_of

NEWEST = -1
"""Stands for the newest turn that changed a file and is not undone."""

WHOLE_SESSION = 0

_LARGEST_COMPARED = 50_000_000


class TurnBackup:
    """The backup that tools use: it adds the running turn's number. Without a session it keeps nothing."""

    def __init__(self) -> None:
        self.checkpoints: Checkpoints | None = None
        self.outputs: OutputFiles | None = None
        self.turn: Callable[[], int] = lambda: 0

    def apart(self) -> TurnBackup:
        """A backup for work in another folder during the running turn: it names files for output and keeps no
        changes."""
        apart = TurnBackup()
        apart.outputs, apart.turn = self.outputs, self.turn
        return apart

    def keep(
        self, path: Path, name: str, before: bytes | None, after: bytes | None, mode: int | None
    ) -> None:
        """Save a file that is about to be changed (`tools.files.backup.Backup`)."""
        if self.checkpoints:
            self.checkpoints.keep(self.turn(), path, name, before, after, mode)

    def note_changes(self, changes: Sequence[FileChange]) -> None:
        """A command changed these files."""
        if self.checkpoints:
            self.checkpoints.record(self.turn(), changes)

    def withdraw(self, path: Path) -> None:
        """Withdraw the last change of this path, which wasn't made after all."""
        if self.checkpoints:
            self.checkpoints.withdraw(path)

    def new_output_file(self) -> Path | None:
        """A new file for output that is too long for a result."""
        return self.outputs.new(self.turn()) if self.outputs else None

    def is_output(self, path: Path) -> bool:
        """Whether the path, with its symlinks resolved, is an output file of this session."""
        return self.outputs is not None and self.outputs.holds(path)


class TurnChanges:
    """The file changes of turns. Every method reads the disk: call it in a thread."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints

    def turn_meant(self, turn: int) -> int:
        """The number of a turn; NEWEST is looked up.

        Raises:
            SessionRefused: no turn has changed a file. StorageFailed: what was kept can't be read.
        """
        if turn != NEWEST:
            return turn
        newest = self._checkpoints.newest_turn()
        if newest is None:
            raise SessionRefused("No turn has changed a file that can be restored.")
        return newest

    def changes(self, turn: int) -> Changes:
        """The files that a turn, or the WHOLE_SESSION, changed. Raises like `turn_meant`.

        The title of the turn, and which commands couldn't be watched, aren't known here.
        """
        number = self.turn_meant(turn)
        files = self._checkpoints.changes(number)
        return Changes(
            turn=number,
            title="",
            files=tuple(_versions(file) for file in files),
            undone=number != WHOLE_SESSION and self._checkpoints.is_undone(number),
        )

    def undo(self, turn: int) -> TakenBack:
        """Restore the files of one turn to their state before it, whoever changed them since.

        Raises:
            SessionRefused: it is undone already, or changed no file. StorageFailed: what was kept can't
                be read. Problems with single files are in `problems` instead.
        """
        number = self.turn_meant(turn)
        if self._checkpoints.is_undone(number):
            raise SessionRefused(f"The changes of turn {number} are already undone.")
        if number == WHOLE_SESSION or not self._checkpoints.changes(number):
            raise SessionRefused(f"Turn {number} changed no files that can be restored.")
        return self._checkpoints.undo(number)


def _versions(file: KeptFile) -> FileVersions:
    return FileVersions(
        path=file.name,
        before=file.before,
        after=file.after,
        changed_since=_changed_since(file),
        unkept=file.unkept,
    )


def _changed_since(file: KeptFile) -> bool:
    """Whether the file is neither as the change left it nor as it was before, as far as that is known."""
    if file.after_hash and file.after_hash.startswith(UNKNOWN):
        return False
    try:
        now = hash_of(content_of(file.path, most=_LARGEST_COMPARED))
    except OSError:
        return True
    return now not in (file.after_hash, file.before_hash)
