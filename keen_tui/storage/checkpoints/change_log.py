"""Which file changed how and when, line by line in an append-only file."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, to_builtins

from keen_tui.domain.errors import StorageFailed
from keen_tui.system.folders import make_private

log = logging.getLogger(__name__)

LOG: Final = "changes.jsonl"
"""Name of the file in the folder of a session's checkpoints."""


class Change(Struct, frozen=True, kw_only=True):
    """A file was changed in `turn`, by an edit or by an undo of the turn's edits.

    `path` is absolute, `name` is the file's name in memory. `before` and `after` are hashes of contents, None
    if there is no file. `mode` has the permission bits before the change, None for a new file; `mode_after`
    those after a command. `unkept` says why a content wasn't saved.
    """

    kind: Literal["edit", "undo"]
    turn: int
    path: str
    name: str
    before: str | None
    after: str | None
    mode: int | None
    unkept: str = ""
    mode_after: int | None = None

    @property
    def changes_nothing(self) -> bool:
        """Whether content and permission to run are as before."""
        bits = 0 if None in (self.mode, self.mode_after) else (self.mode or 0) ^ (self.mode_after or 0)
        return self.before == self.after and not bits & stat.S_IXUSR


class Withdrawn(Struct, frozen=True, kw_only=True):
    """The newest change of that path wasn't made after all."""

    path: str


class Undone(Struct, frozen=True, kw_only=True):
    """All changes of that turn so far are undone."""

    turn: int


class GivenUp(Struct, frozen=True, kw_only=True):
    """Contents of that turn were removed, because the session reached its limit."""

    turn: int


ChangeLogEntry = Change | Withdrawn | Undone | GivenUp

_DEFAULTS: dict[str, Any] = {"mode_after": None}
"""Fields that lines of earlier versions don't have."""

_KINDS: dict[str, type[ChangeLogEntry]] = {
    "edit": Change,
    "undo": Change,
    "withdrawn": Withdrawn,
    "undone": Undone,
    "given-up": GivenUp,
}


def turn_that_wrote(file: Path, path: Path, after: str | None) -> int | None:
    """The newest turn of another session that gave a file the content with this hash (None: removed it), by
    the log of that session; None if there is none. Blocks, never raises."""
    try:
        entries = ChangeLog(file).entries
    except StorageFailed:
        return None
    changes = (entry for entry in reversed(entries) if isinstance(entry, Change) and entry.path == str(path))
    return next((change.turn for change in changes if change.after == after), None)


class ChangeLog:
    """The entries of one session, oldest first. An entry that can't be written stays in memory and is written
    with the next one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._entries: list[ChangeLogEntry] | None = None
        self._unwritten: list[bytes] = []

    @property
    def entries(self) -> list[ChangeLogEntry]:
        """All entries. Ignores lines that it can't parse. Raises StorageFailed."""
        if self._entries is None:
            self._entries = list(self._read())
        return self._entries

    def add(self, *entries: ChangeLogEntry) -> None:
        """Append entries and flush them to the disk. Raises OSError; the entries still count while the
        program runs."""
        self.entries.extend(entries)
        self._unwritten.extend(map(_line, entries))
        self._write(b"".join(self._unwritten))
        self._unwritten.clear()

    def _write(self, lines: bytes) -> None:
        make_private(self._file.parent)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._file, flags, 0o600)
        with os.fdopen(descriptor, "rb+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            torn = bool(size) and os.pread(descriptor, 1, size - 1) != b"\n"
            wanted = b"\n" + lines if torn else lines
            try:
                if file.write(wanted) != len(wanted):
                    raise OSError("it was written only in part")
                os.fsync(descriptor)
            except OSError:
                file.truncate(size)
                raise

    def _read(self) -> Iterator[ChangeLogEntry]:
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageFailed(f"The changes of this session can't be read: {error.strerror}.") from error
        for line in content.split(b"\n"):
            if entry := _entry(line):
                yield entry
            elif line.strip():
                log.warning("a line of %s can't be understood and is passed over", self._file)


def _line(entry: ChangeLogEntry) -> bytes:
    kind = next(kind for kind, made in _KINDS.items() if made is type(entry))
    return json.dumps({"kind": kind} | to_builtins(entry)).encode() + b"\n"


def _entry(line: bytes) -> ChangeLogEntry | None:
    try:
        given: Any = json.loads(line)
        made = _KINDS[given["kind"]]
        values = _DEFAULTS | {name: given[name] for name in made.__struct_fields__ if name in given}
        values = {name: values[name] for name in made.__struct_fields__}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return made(**values) if all(_fits(name, value) for name, value in values.items()) else None


def _fits(name: str, value: Any) -> bool:
    match name:
        case "turn":
            return type(value) is int
        case "mode" | "mode_after":
            return value is None or (type(value) is int and 0 <= value <= 0o7777)
        case "before" | "after":
            return value is None or isinstance(value, str)
    return isinstance(value, str)
