"""The files that a session's turns changed, with their contents before and after, for undo and diff.

They are outside the workspace, in a folder of the session: contents by their hash, and a log of changes.
"""

from __future__ import annotations

import logging
import shutil
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.file_changes import FileChange, Version
from keen_tui.storage.checkpoints.blobs import Blobs, hash_of
from keen_tui.storage.checkpoints.change_log import (
    LOG,
    Change,
    ChangeLog,
    ChangeLogEntry,
    GivenUp,
    Undone,
    Withdrawn,
)
from keen_tui.storage.checkpoints.merging import Merged, hashes, is_undone, made_changes, merged, settled
from keen_tui.system.atomic_write import put_file, remove_file
from keen_tui.system.safe_read import content_of

log = logging.getLogger(__name__)

LARGEST_FILE = 5_000_000
"""Bytes of the largest content that is saved."""

MOST_BYTES = 200_000_000
"""Bytes of all contents that are saved per session; those of its oldest turns are removed first."""

UNKNOWN = "unknown:"
"""Begins the name of a content that nobody kept."""

_LARGEST_READ = 50_000_000
_CONTENTS = "contents"


class KeptFile(Struct, frozen=True, kw_only=True):
    """A file before the first and after the last of several changes. Contents are None if there was no file;
    the hashes tell this from a lost content. `unkept` says why a content is missing, "" if none is. `mode`
    has the permission bits before the first change."""

    path: Path
    name: str
    before: bytes | None
    after: bytes | None
    before_hash: str | None
    after_hash: str | None
    mode: int | None
    unkept: str = ""


class TakenBack(Struct, frozen=True, kw_only=True):
    """The result of an undo: the names of the files that it changed, and a sentence for each that it couldn't
    change."""

    files: tuple[str, ...]
    problems: tuple[str, ...] = ()


class Checkpoints:
    """Saves contents in `folder`, which is created with the first of them. Safe to call from any thread."""

    def __init__(
        self, folder: Path, *, largest_file: int = LARGEST_FILE, most_bytes: int = MOST_BYTES
    ) -> None:
        self._folder = folder
        self._largest_file = largest_file
        self._most_bytes = most_bytes
        self._blobs = Blobs(folder / _CONTENTS)
        self._log = ChangeLog(folder / LOG)
        self._lock = threading.RLock()

    def keep(
        self, turn: int, path: Path, name: str, before: bytes | None, after: bytes | None, mode: int | None
    ) -> None:
        """Note a change that is about to be made, save both contents, and flush everything to the disk.

        A content that can't be saved is noted as missing. MUST NOT raise: the change is made in any case.
        """
        with self._lock:
            self._keep("edit", turn, (path, name), (before, after), mode)

    def record(self, turn: int, changes: Sequence[FileChange]) -> None:
        """Keep what a command has changed, as far as it can be put back. MUST NOT raise."""
        with self._lock:
            self._note(*(self._recorded(turn, change) for change in changes))

    def withdraw(self, path: Path) -> None:
        """Withdraw the newest change of this path, which wasn't made after all. MUST NOT raise."""
        with self._lock:
            self._note(Withdrawn(path=str(path)))

    def newest_turn(self) -> int | None:
        """The newest turn that changed files and isn't undone, or None. Raises StorageFailed."""
        with self._lock:
            entries = self._log.entries
            turns = {change.turn for change in made_changes(entries) if change.kind == "edit"}
            left = (turn for turn in sorted(turns, reverse=True) if not is_undone(entries, turn))
            return next((turn for turn in left if merged(entries, turn)), None)

    def is_undone(self, turn: int) -> bool:
        """Whether the turn was undone and has changed nothing since. Raises StorageFailed."""
        with self._lock:
            return is_undone(self._log.entries, turn)

    def changes(self, turn: int) -> tuple[KeptFile, ...]:
        """The files that a turn changed, in all its attempts; for 0 the files that the session changed and
        didn't undo. Leaves out files whose content is unchanged in the end. Raises StorageFailed."""
        with self._lock:
            return tuple(self._loaded(file) for file in merged(self._log.entries, turn))

    def undo(self, turn: int) -> TakenBack:
        """Restore the files of a turn to their state before it, each one whole or not at all.

        Saves the overwritten contents too. Does nothing for a turn that is undone already. Raises
        StorageFailed.
        """
        with self._lock:
            taken: list[str] = []
            problems: list[str] = []
            for file in () if self.is_undone(turn) else self.changes(turn):
                try:
                    if self._take_back(turn, file):
                        taken.append(file.name)
                except (OSError, StorageFailed) as error:
                    problems.append(f"{file.name}: {_reason(error)}.")
            if not problems:
                self._note(Undone(turn=turn))
            return TakenBack(files=tuple(taken), problems=tuple(problems))

    def copy_to(self, folder: Path, *, up_to: int) -> None:
        """Copy the changes of the turns up to and including that one to a fork of the session. Contents are
        shared if the file system can do that. Raises StorageFailed."""
        with self._lock:
            entries = [
                entry
                for entry in settled(self._log.entries)
                if not isinstance(entry, Withdrawn) and entry.turn <= up_to
            ]
            try:
                self._blobs.copy_to(folder / _CONTENTS, hashes(made_changes(entries)))
                ChangeLog(folder / LOG).add(*entries)
            except OSError as error:
                raise StorageFailed(f"The saved files can't be copied: {_reason(error)}.") from error

    def delete(self) -> None:
        """Remove all contents and the log. Raises StorageFailed."""
        with self._lock:
            try:
                shutil.rmtree(self._folder)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise StorageFailed(f"The saved files can't be removed: {_reason(error)}.") from error
            self._blobs = Blobs(self._folder / _CONTENTS)
            self._log = ChangeLog(self._folder / LOG)

    def _take_back(self, turn: int, file: KeptFile) -> bool:
        """Restore one file; whether there was anything to do. Raises OSError, or StorageFailed if its content
        wasn't saved."""
        if file.unkept:
            raise StorageFailed(file.unkept)
        now = content_of(file.path, most=_LARGEST_READ)
        if hash_of(now) == file.before_hash:
            return self._put_mode_back(file)
        self._keep("undo", turn, (file.path, file.name), (now, file.before), file.mode)
        try:
            if file.before is None:
                remove_file(file.path)
            else:
                put_file(file.path, file.before, now, mode=file.mode)
        except OSError:
            self._note(Withdrawn(path=str(file.path)))
            raise
        return True

    def _put_mode_back(self, file: KeptFile) -> bool:
        """Whether the file may be run again, or not, as before. Raises OSError."""
        if file.mode is None or not (file.path.stat().st_mode ^ file.mode) & stat.S_IXUSR:
            return False
        file.path.chmod(file.mode)
        return True

    def _recorded(self, turn: int, change: FileChange) -> Change:
        """The entry of a change that a command made. The file is changed already, so nothing is flushed."""
        unkept = change.unkept
        if not unkept:
            contents = [each.content for each in (change.before, change.after) if each.content is not None]
            unkept = self._keep_contents(turn, contents, flush=False)
        return Change(
            kind="edit",
            turn=turn,
            path=str(change.path),
            name=change.name,
            before=_name_of(change.before),
            after=_name_of(change.after),
            mode=change.before.mode,
            mode_after=change.after.mode,
            unkept=unkept,
        )

    def _keep(
        self,
        kind: Literal["edit", "undo"],
        turn: int,
        place: tuple[Path, str],
        contents: tuple[bytes | None, bytes | None],
        mode: int | None,
    ) -> None:
        before, after = map(hash_of, contents)
        self._note(
            Change(
                kind=kind,
                turn=turn,
                path=str(place[0]),
                name=place[1],
                before=before,
                after=after,
                mode=mode,
                unkept=self._keep_contents(turn, [each for each in contents if each is not None]),
            )
        )

    def _keep_contents(self, turn: int, contents: list[bytes], *, flush: bool = True) -> str:
        """Save the contents; says why that failed, "" if it didn't."""
        if any(len(content) > self._largest_file for content in contents):
            return f"it is larger than {_megabytes(self._largest_file)}"
        names = {name for each in contents if (name := hash_of(each))}
        new = [name for name in names if name not in self._blobs]
        try:
            for content in contents:
                self._blobs.keep(content, flush=flush)
            if self._make_room(turn, names):
                return ""
        except (OSError, StorageFailed) as error:
            return f"it could not be saved: {_reason(error)}"
        for name in new:
            self._blobs.remove(name)
        return f"one turn changed more than the {_megabytes(self._most_bytes)} that Keen saves"

    def _make_room(self, turn: int, needed_now: set[str]) -> bool:
        """Remove contents that only earlier turns need until there is enough room. False if there still
        isn't."""
        changes = made_changes(self._log.entries)
        for oldest in sorted({change.turn for change in changes if change.turn < turn}):
            if self._blobs.total <= self._most_bytes:
                break
            needed = needed_now | hashes(change for change in changes if change.turn != oldest)
            for name in hashes(change for change in changes if change.turn == oldest) - needed:
                self._blobs.remove(name)
            self._note(GivenUp(turn=oldest))
        return self._blobs.total <= self._most_bytes

    def _note(self, *entries: ChangeLogEntry) -> None:
        try:
            self._log.add(*entries)
        except (OSError, StorageFailed) as error:
            log.warning("a change could not be noted: %s", error)

    def _loaded(self, file: Merged) -> KeptFile:
        first, last = file.first, file.last
        before, before_lost = self._content(first.before, first)
        after, after_lost = self._content(last.after, last)
        return KeptFile(
            path=Path(first.path),
            name=first.name,
            before=before,
            after=after,
            before_hash=first.before,
            after_hash=last.after,
            mode=first.mode,
            unkept=before_lost or after_lost,
        )

    def _content(self, name: str | None, change: Change) -> tuple[bytes | None, str]:
        """A content, and why it is missing although it should exist."""
        if name is None:
            return None, ""
        content = self._blobs.get(name)
        if content is not None:
            return content, ""
        given_up = GivenUp(turn=change.turn) in self._log.entries
        room = f"newer changes took its place: a session keeps {_megabytes(self._most_bytes)}"
        return None, change.unkept or (room if given_up else "its saved content is missing or damaged")


def _name_of(version: Version) -> str | None:
    """The name of a content; of one that isn't known, something that only the same one has."""
    if version.content is not None and not version.is_link:
        return hash_of(version.content)
    return f"{UNKNOWN}{version.fingerprint or version.content!r}" if version.is_there else None


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"


def _reason(error: OSError | StorageFailed) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
