"""The session files of a folder, from its directory listing: no file is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keen_tui.storage.paths import is_session_id


class SessionEntry(NamedTuple):
    """One session file. Times are nanoseconds since the epoch, `size` is in bytes.

    `changed` is 0 for anything but a plain file. `titled` is the time when the user's title was written, 0
    for no title. `may_be_locked`: there is a lock file.
    """

    folder: str
    id: str
    size: int
    changed: int
    inode: int
    titled: int
    may_be_locked: bool

    @property
    def path(self) -> Path:
        """The session file."""
        return Path(self.folder, f"{self.id}.jsonl")

    @property
    def lock_file(self) -> str:
        """The lock file of the session."""
        return f"{self.folder}/{self.id}.lock"

    @property
    def key(self) -> str:
        """The name of the session among those of all folders."""
        return key_of(self.folder, self.id)

    @property
    def state(self) -> str:
        """A text that changes with the file."""
        return f"{self.size} {self.changed} {self.inode}"

    @property
    def full_state(self) -> str:
        """A text that changes with the file or with the user's title."""
        return f"{self.state} {self.titled}"


def key_of(folder: str, session_id: str) -> str:
    """The name of a session of that folder among those of all folders."""
    return f"{folder.rpartition('/')[2]}/{session_id}"


def entries_in(folder: str) -> Iterator[SessionEntry]:
    """The session files of a folder, in any order; none if the folder doesn't exist. Raises OSError."""
    try:
        with os.scandir(folder) as found:
            by_name = {entry.name: entry for entry in found}
    except (
        FileNotFoundError,
        NotADirectoryError,
    ):  # a file in its place, or above it: nothing was saved
        return
    for name, entry in by_name.items():
        id, _, suffix = name.partition(".")
        if suffix != "jsonl" or not is_session_id(id):
            continue
        status = _status(entry)
        if status is None:
            continue
        is_file = stat.S_ISREG(status.st_mode)
        yield SessionEntry(
            folder,
            id,
            status.st_size if is_file else 0,
            status.st_mtime_ns if is_file else 0,
            status.st_ino,
            _changed(by_name.get(f"{id}.title")),
            f"{id}.lock" in by_name,
        )


def folders_in(root: str) -> list[str]:
    """The folders of all workspaces, possibly none. Raises OSError."""
    try:
        with os.scandir(root) as found:
            return [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _changed(entry: os.DirEntry[str] | None) -> int:
    status = _status(entry) if entry else None
    return status.st_mtime_ns if status else 0
