"""All saved sessions: one folder per workspace, one file per session. The files are the truth."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from msgspec.structs import replace

from keen_tui.domain.errors import SessionInUse, SessionUnknown, StorageFailed
from keen_tui.domain.events import Event, SessionRenamed
from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.storage.forking import first_words_of, lines_up_to
from keen_tui.storage.lookup.listing import SessionEntry, entries_in, folders_in, key_of
from keen_tui.storage.lookup.locked import is_locked
from keen_tui.storage.lookup.lookup import FEW, SessionLookup
from keen_tui.storage.lookup.summaries import own_title, title_file
from keen_tui.storage.paths import is_regular, is_session_id, new_session_id, private_opener
from keen_tui.storage.reading import SessionFile, mend, read_header, read_session
from keen_tui.storage.records import event_line, header_line
from keen_tui.storage.retention import forget_old, forget_old_files, is_due
from keen_tui.system.folders import make_private, workspace_folder
from keen_tui.system.paths import QUARANTINE

if TYPE_CHECKING:
    from keen_tui.storage.lookup.spending import UsageSlot

_STALE_SECONDS = 86_400.0
"""Seconds after which nobody is working on an incomplete copy any more."""

_LOCK_SECONDS = 0.2
"""Seconds to wait for a lock: a program that lists the sessions holds each lock for a moment."""

SessionLock = FileLock
"""The lock of a session: held until it is released, or the program ends."""


class SessionStore:
    """The sessions below `root`. All methods block: call them in a thread. Raises StorageFailed.

    Args:
        few: the most sessions that are listed and searched without an index.
    """

    def __init__(self, root: Path, *, few: int = FEW) -> None:
        self.root = root
        self._lookup = SessionLookup(root / "index", few=few)

    def new_path(self, workspace: Path) -> Path:
        """The path of a new session of the workspace. Nothing is created yet."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self.now()))
        path = workspace_folder(self._sessions, workspace) / f"{new_session_id(stamp)}.jsonl"
        return self.new_path(workspace) if os.path.lexists(path) else path

    def promise(self, session_id: str) -> None:
        """Note the id of a session that has no file yet, so that another program can begin it: for 30
        days."""
        file = self._promised / session_id
        try:
            make_private(self._promised)
            with open(file, "wb", opener=private_opener):
                pass
        except OSError as error:
            raise StorageFailed(f"{file} can't be written: {error.strerror}.") from error

    def promised_path(self, session_id: str, workspace: Path) -> Path | None:
        """The path that a promised session gets in that workspace; None: the id wasn't promised."""
        if is_session_id(session_id) and is_regular(self._promised / session_id):
            return workspace_folder(self._sessions, workspace) / f"{session_id}.jsonl"
        return None

    def new_agent_id(self) -> str:
        """The id of a new session of a sub-agent."""
        return new_session_id(time.strftime("%Y%m%d-%H%M%S", time.gmtime(self.now())))

    def agent_path(self, session_id: str, agent_session: str) -> Path:
        """The path of a sub-agent's session that belongs to that session."""
        return self._agents / session_id / f"{agent_session}.jsonl"

    def list(self, workspace: Path | None = None, *, most: int | None = None) -> tuple[SavedSession, ...]:
        """The sessions of a workspace, or of all, the last used first, at most `most`."""
        return self._lookup.rows(self._entries(workspace), most)

    def newest(self, workspace: Path) -> SavedSession | None:
        """The last used session of the workspace that can be opened."""
        rows = (row for entry in self._entries(workspace) for row in self._lookup.rows([entry]))
        return next((row for row in rows if not row.problem), None)

    def search(self, words: str) -> Iterator[tuple[SearchHit, ...]]:
        """The places of the words, newest session first, at most `MOST_HITS`. Yields those found so far,
        again and again, and finally all of them."""
        return self._lookup.search(self._entries(None), words)

    def usages(self, since: float) -> Iterator[tuple[UsageSlot, ...]]:
        """What each session used that was written to after `since` (seconds since the epoch), in all
        workspaces. Raises StorageFailed."""
        entries = [entry for entry in self._entries(None) if entry.changed >= since * 1e9]
        return self._lookup.usages(entries)

    def update_index(self, stop: threading.Event) -> None:
        """Update the index for lists and searches, in small steps, until `stop` is set."""
        with suppress(StorageFailed):  # the list reports the error
            self._lookup.update(self._entries(None), stop)

    def path_of(self, session_id: str) -> Path:
        """The file of a session; the beginning of its id is enough.

        Raises:
            SessionUnknown: no session, or several, have that id. StorageFailed: the folders can't be read.
        """
        if is_session_id(session_id):
            of_agents = self._agents.glob(f"*/{session_id}.jsonl")
            exact = [path for path in (*self._named(session_id), *of_agents) if os.path.lexists(path)]
            if len(exact) == 1:
                return exact[0]
        found = sorted(entry.path for entry in self._entries(None) if entry.id.startswith(session_id))
        if not is_session_id(session_id) or not found:
            raise SessionUnknown(f"There is no session {session_id!r}. keen-tui sessions lists them.")
        if len(found) > 1:
            some = ", ".join(path.stem for path in found[:3])
            raise SessionUnknown(f"Several sessions begin with {session_id!r}: {some}. Use a longer id.")
        return found[0]

    def is_in_use(self, session_id: str) -> bool:
        """Whether some program has the session open."""
        return any(is_locked(_lock_file(path)) for path in self._named(session_id))

    def forget_old(self) -> None:
        """Delete old data, at most once a day: checkpoints and outputs of sessions, quarantined files, and
        promised ids."""
        if self.root.is_dir() and is_due(self.root / "forgotten"):
            for root in (self.checkpoints, self.outputs):
                forget_old(root, in_use=self.is_in_use)
            forget_old(self.root / QUARANTINE, limit_bytes=sys.maxsize)
            forget_old_files(self._promised)

    def read(self, path: Path) -> SessionFile:
        """Read a session without changing it."""
        return read_session(path)

    def read_for_writing(self, path: Path) -> SessionFile:
        """Read a session whose lock this program holds. Moves damaged bytes to another file, so that the
        session can continue, and updates the title in lists from the session file."""
        session = read_session(path)
        events = (record.event for record in reversed(session.records))
        title = next((event.title for event in events if isinstance(event, SessionRenamed)), "")
        if title and title != own_title(path):
            with suppress(StorageFailed):
                self.set_title(path, title)
        return session if session.whole_bytes is not None else mend(session)

    def lock(self, path: Path) -> SessionLock:
        """Lock the session for this process, until the lock is released or the process ends.

        Raises:
            SessionInUse: another program has it.
        """
        try:
            make_private(path.parent)
            lock = FileLock(_lock_file(path), timeout=_LOCK_SECONDS, mode=0o600, thread_local=False)
            lock.acquire(poll_interval=_LOCK_SECONDS / 10)
        except Timeout as error:
            raise SessionInUse(
                f"Session {path.stem} is open in another program. Fork it to continue in a copy."
            ) from error
        except (OSError, NotImplementedError) as error:
            raise StorageFailed(f"{path.parent} can't be used: {_reason(error)}.") from error
        return lock

    def set_title(self, path: Path, title: str) -> None:
        """Save the user's title for lists. The session file has it as an event."""
        file = title_file(path)
        new = file.with_suffix(".title.new")
        try:
            with open(new, "w", encoding="utf-8", errors="replace", opener=private_opener) as opened:
                opened.write(title)
            new.replace(file)
        except OSError as error:
            raise StorageFailed(f"{file} can't be written: {error.strerror}.") from error

    def append(self, path: Path, event: Event) -> None:
        """Add an event to a session that no program has open. Raises SessionInUse."""
        lock = self.lock(path)
        try:
            saved = self.read_for_writing(path)
            with open(path, "ab", opener=private_opener) as file:
                if not saved.next_number:
                    file.write(header_line(saved.header))
                file.write(event_line(max(saved.next_number, 1), self.now(), event))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageFailed(f"{path} can't be written: {error.strerror}.") from error
        finally:
            lock.release()

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def fork(self, path: Path, workspace: Path, turn: int = 0) -> Path:
        """A copy of the session, up to and including that turn (0: whole), as a new session of the workspace.
        Its title says that it is a copy.

        Raises:
            StorageFailed: there is no such turn, or the copy can't be written.
        """
        new = self.new_path(workspace)
        header = replace(
            read_header(path),
            id=new.stem,
            workspace=str(workspace),
            began=time.time(),
            forked_from=path.stem,
        )
        half = new.with_suffix(".forking")
        title = first_words = ""
        line = b""
        try:
            make_private(new.parent)
            _sweep(new.parent)
            with open(half, "wb", opener=private_opener) as file:
                file.write(header_line(header))
                for line, event in lines_up_to(path, turn):
                    file.write(line)
                    title = event.title if isinstance(event, SessionRenamed) else title
                    first_words = first_words or first_words_of(event)
                if title := self._title_of_copy(title or first_words, workspace):
                    renamed = SessionRenamed(title=title)
                    file.write(event_line(json.loads(line)["n"] + 1, header.began, renamed))
                file.flush()
                os.fsync(file.fileno())
            if title:
                self.set_title(new, title)
            half.replace(new)
        except OSError as error:
            raise StorageFailed(f"{new} can't be written: {error.strerror}.") from error
        finally:
            with suppress(OSError):
                half.unlink(missing_ok=True)
        return new

    def _title_of_copy(self, title: str, workspace: Path) -> str:
        """`Round totals (copy)`, `Round totals (copy 2)`: a title that no other session of the workspace
        has."""
        title = re.sub(r" \(copy( \d+)?\)$", "", title)
        if not title:
            return ""
        taken = {row.title for row in self.list(workspace)}
        names = (f"{title} (copy{f' {number}' if number > 1 else ''})" for number in count(1))
        return next(name for name in names if name not in taken)

    def delete(self, path: Path) -> None:
        """Delete a session with all its data. Safe to repeat after an interruption.

        Raises:
            SessionInUse: another program has it open.
        """
        lock = self.lock(path)
        try:
            for folder in (
                self.checkpoints_of(path.stem),
                self.outputs_of(path.stem),
                self._agents / path.stem,
            ):
                shutil.rmtree(folder, ignore_errors=True)
            for file in path.parent.glob(f"{path.stem}.*"):
                if file not in (path, _lock_file(path)):
                    file.unlink()
            path.unlink()
            self._lookup.forget(key_of(str(path.parent), path.stem))
            _lock_file(path).unlink()
        except OSError as error:
            raise StorageFailed(f"{path} can't be deleted: {error.strerror}.") from error
        finally:
            lock.release()

    def checkpoints_of(self, session_id: str) -> Path:
        """The folder with the session's file contents for undo."""
        return self.checkpoints / session_id

    @property
    def checkpoints(self) -> Path:
        """The folder with all file contents for undo."""
        return self.root / "checkpoints"

    def outputs_of(self, session_id: str) -> Path:
        """The folder with the long output of the session's commands."""
        return self.outputs / session_id

    @property
    def outputs(self) -> Path:
        """The folder with the long output of all sessions."""
        return self.root / "outputs"

    @property
    def exports(self) -> Path:
        """The folder for exports that nobody gave another place."""
        return self.root / "exports"

    @property
    def _sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def _promised(self) -> Path:
        """The folder with an empty file for each promised id."""
        return self.root / "promised"

    @property
    def _agents(self) -> Path:
        """The folder with the sessions of sub-agents, in a folder for each session that they belong to."""
        return self.root / "agents"

    def _entries(self, workspace: Path | None) -> tuple[SessionEntry, ...]:
        """The session files of a workspace, or of all, the last used first. In a list of all, unreadable
        folders are left out."""
        folders = [str(workspace_folder(self._sessions, workspace))] if workspace else self._folders()
        found: list[SessionEntry] = []
        for folder in folders:
            try:
                found += entries_in(folder)
            except OSError as error:
                if workspace:
                    raise _unreadable(folder, error) from error
        return tuple(sorted(found, key=lambda entry: (entry.changed, entry.id), reverse=True))

    def _named(self, session_id: str) -> Iterator[Path]:
        """The paths where a session with that id may be."""
        return (Path(folder, f"{session_id}.jsonl") for folder in self._folders())

    def _folders(self) -> Sequence[str]:
        """The folders of all workspaces."""
        try:
            return folders_in(str(self._sessions))
        except OSError as error:
            raise _unreadable(str(self._sessions), error) from error


def _unreadable(folder: str, error: OSError) -> StorageFailed:
    return StorageFailed(f"The saved sessions in {folder} can't be read: {error.strerror}.")


def pending_file(path: Path) -> Path:
    """The file with the pending state of a session, for users who turned that on."""
    return path.with_suffix(".pending")


def _lock_file(path: Path) -> Path:
    return path.with_suffix(".lock")


def _sweep(folder: Path) -> None:
    """Delete old leftovers of killed programs: incomplete copies, and sessions without a whole beginning."""
    for half in (*folder.glob("*.forking"), *folder.glob("*.beginning")):
        with suppress(OSError):
            if half.lstat().st_mtime < time.time() - _STALE_SECONDS:
                half.unlink()
                title_file(half).unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
