"""An index of thousands of session files for lists and searches, in a database beside them.

The files are the truth. An entry counts only while its file has the size, time and inode that it had when it
was indexed, and a search reads every place that it finds from the file itself. So the index may be deleted at
any time, and if it can't be used, everything works without it, only slower.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from keen_tui.storage.paths import PRIVATE_FILE, is_regular
from keen_tui.system.folders import make_private

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger(__name__)

_VERSION = 1
_FILE = f"sessions-{_VERSION}.sqlite"
_PAGE_BYTES = 16_384
_PATIENCE = 0.2
"""Seconds to wait for another program that writes. A list without the index is better than a late one."""

_FORGETTING_PATIENCE = 3.0
"""The same for deletions, which shouldn't be postponed."""

_TABLES = """
CREATE TABLE IF NOT EXISTS glances (key TEXT PRIMARY KEY, state TEXT, glance BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, state TEXT, places BLOB, content BLOB);
CREATE TABLE IF NOT EXISTS usages (key TEXT PRIMARY KEY, state TEXT, slots BLOB) WITHOUT ROWID;
"""

State = str
"""A text that identifies a version of a session file."""


class IndexedText(Struct, frozen=True):
    """The searched text of a session, in the layout of `read_text`, and the state of its file."""

    state: State
    places: bytes
    content: bytes


class SessionIndex:
    """The database, in its own folder. Sessions are named by keys.

    All methods block and may be called in any thread. They never raise: an entry that can't be read counts as
    missing, and one that can't be written isn't saved.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def is_there(self) -> bool:
        """Whether an index exists."""
        return (self._folder / _FILE).exists()

    def glances(self) -> Mapping[str, tuple[State, bytes]]:
        """The indexed row of each session, with the state of its file."""
        with self._doing_without(), self._opened() as database:
            rows = database.execute("SELECT key, state, glance FROM glances")
            return {key: (state, bytes(glance)) for key, state, glance in rows}
        return {}

    def usages(self) -> Mapping[str, tuple[State, bytes]]:
        """The indexed usage of each session, with the state of its file."""
        with self._doing_without(), self._opened() as database:
            rows = database.execute("SELECT key, state, slots FROM usages")
            return {key: (state, bytes(slots)) for key, state, slots in rows}
        return {}

    def texts(self) -> Mapping[str, State]:
        """The state in which the text of each session was indexed."""
        with self._doing_without(), self._opened() as database:
            return dict(database.execute("SELECT key, state FROM texts").fetchall())
        return {}

    @contextmanager
    def searching(self, words: bytes) -> Iterator[Callable[[Sequence[str]], Mapping[str, IndexedText]]]:
        """A function that returns the indexed texts of sessions. Texts without the words are empty."""
        with contextlib.ExitStack() as leaving:
            database: sqlite3.Connection | None = None
            with self._doing_without():
                database = leaving.enter_context(self._opened())

            def look(keys: Sequence[str]) -> Mapping[str, IndexedText]:
                if database is not None:
                    with self._doing_without():
                        return _texts(database, keys, words)
                return {}

            yield look

    def keep_glances(
        self, glances: Mapping[str, tuple[State, bytes]], is_there: Callable[[str], bool]
    ) -> bool:
        """Save these rows of sessions that still exist when they are written. False if that failed."""
        rows = ((key, state, glance) for key, (state, glance) in glances.items())
        return self._write("INSERT OR REPLACE INTO glances VALUES (?, ?, ?)", rows, is_there)

    def keep_usages(self, usages: Mapping[str, tuple[State, bytes]], is_there: Callable[[str], bool]) -> bool:
        """Save usages in the same way."""
        rows = ((key, state, slots) for key, (state, slots) in usages.items())
        return self._write("INSERT OR REPLACE INTO usages VALUES (?, ?, ?)", rows, is_there)

    def keep_texts(self, texts: Mapping[str, IndexedText], is_there: Callable[[str], bool]) -> bool:
        """Save texts in the same way."""
        rows = ((key, each.state, each.places, each.content) for key, each in texts.items())
        return self._write("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", rows, is_there)

    def forget(self, keys: Iterable[str]) -> None:
        """Delete these sessions. None of their text stays in the file.

        If that fails, the whole index is deleted.
        """
        gone = [(key,) for key in keys]
        if not gone or not self.is_there:
            return
        with self._doing_without(), self._opened(_FORGETTING_PATIENCE) as database:
            with database:
                database.executemany("DELETE FROM glances WHERE key = ?", gone)
                database.executemany("DELETE FROM texts WHERE key = ?", gone)
                database.executemany("DELETE FROM usages WHERE key = ?", gone)
            return
        self.throw_away()

    def throw_away(self) -> None:
        """Delete the database and everything else in its folder. The next one begins empty."""
        files = sorted(_files_in(self._folder), key=lambda file: file.name.endswith("-journal"))
        for file in files:  # a journal is deleted after its database: alone it is useless
            with contextlib.suppress(OSError):
                file.unlink()

    def _write(
        self, statement: str, rows: Iterable[tuple[str, *tuple[object, ...]]], is_there: Callable[[str], bool]
    ) -> bool:
        """Write entries of sessions that exist. The check is made while no other program can write: to delete
        a session, a program removes the file first and then its entries."""
        with self._doing_without(), self._opened(_FORGETTING_PATIENCE) as database:
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.executemany(statement, (row for row in rows if is_there(row[0])))
            return True
        return False

    @contextmanager
    def _opened(self, patience: float = _PATIENCE) -> Iterator[sqlite3.Connection]:
        """The database, created if it is missing. Raises OSError, ImportError, sqlite3.Error."""
        import sqlite3  # noqa: PLC0415 - only where there are many sessions

        make_private(self._folder)
        file = self._folder / _FILE
        is_new = _made(file)
        database = sqlite3.connect(file, timeout=patience, check_same_thread=False)
        try:
            database.execute("PRAGMA secure_delete = ON")
            if is_new:
                self._remove_others()
                database.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            database.executescript(_TABLES)
            yield database
        finally:
            database.close()

    @contextmanager
    def _doing_without(self) -> Iterator[None]:
        """Continue without the index if it can't be used; delete it if it is damaged."""
        try:
            yield
        except (OSError, ImportError) as error:
            log.info("no index of the sessions: %s", error)
        except Exception as error:
            if type(error).__module__ != "sqlite3":
                raise
            log.info("no index of the sessions: %s", error)
            if _is_damage(error):
                self.throw_away()

    def _remove_others(self) -> None:
        """Remove indexes of other versions of this program."""
        for file in _files_in(self._folder):
            if not file.name.startswith(_FILE):
                with contextlib.suppress(OSError):
                    file.unlink()


_SOME_TEXTS = "SELECT key, state, places, content FROM texts WHERE key IN ({})"


def _texts(database: sqlite3.Connection, keys: Sequence[str], words: bytes) -> Mapping[str, IndexedText]:
    """The texts of sessions; texts without the words are empty."""
    found = {}
    for key, state, places, content in database.execute(_SOME_TEXTS.format(", ".join("?" * len(keys))), keys):
        found[key] = IndexedText(state, places, content) if words in content else IndexedText(state, b"", b"")
    return found


def _is_damage(error: Exception) -> bool:
    """Whether the error means that the database is damaged, and not just unusable at the moment."""
    import sqlite3  # noqa: PLC0415 - is loaded where there is such an error

    passing = (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_AUTH,
    )
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF not in passing


def _made(file: Path) -> bool:
    """Create the file if it is missing, for this user alone. Whether it was missing. Raises OSError.

    An existing file MUST NOT be opened here: closing it would drop the locks of this program's other
    connections.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        os.close(os.open(file, flags, PRIVATE_FILE))
    except FileExistsError:
        if not is_regular(file):
            raise
        return False
    return True


def _files_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
