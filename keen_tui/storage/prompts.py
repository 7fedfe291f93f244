"""Texts of the user: sent messages, for the history of the composer, unsent drafts, and pasted images.

Messages of all workspaces are in one file, one JSON line each. Every program has its own draft file, locked
while it runs: a draft whose lock is free was left behind.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct

from keen_tui.domain.errors import StorageFailed
from keen_tui.storage.paths import PRIVATE_FILE, private_opener
from keen_tui.storage.retention import forget_old_files
from keen_tui.system.atomic_write import put_file
from keen_tui.system.folders import make_private
from keen_tui.system.safe_read import content_of

_MOST_BYTES: Final = 4_000_000
"""Bytes of the history at which its older half is removed."""
_MOST_READ: Final = 64_000_000
_LONGEST: Final = 200_000
"""The most characters of a message in the history; longer ones are only in their session."""


class SavedPrompt(Struct, frozen=True):
    """A text, and the folder that it was written in."""

    folder: str
    text: str


class PromptStore:
    """Messages and drafts below `root`, for a program that works in `workspace`. All methods block, and raise
    StorageFailed if something can't be read or written."""

    def __init__(self, root: Path, workspace: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._folder = os.path.realpath(workspace)
        self._history = self._root / "history.jsonl"
        self._drafts = self._root / "drafts"
        self._pasted = self._root / "pasted"
        self._own: tuple[Path, FileLock] | None = None

    def sent(self) -> Sequence[SavedPrompt]:
        """All messages, oldest first. Ignores lines that aren't messages."""
        try:
            content = content_of(self._history, most=_MOST_READ) or b""
        except OSError as error:
            raise self._failed("read", self._history, error) from error
        if len(content) > _MOST_BYTES:
            content = self._halved(content)
        return tuple(_messages(content))

    def add(self, text: str) -> None:
        """Add a sent message."""
        if len(text) > _LONGEST:
            return
        try:
            make_private(self._root)
            with open(self._history, "ab+", opener=private_opener) as file:
                file.write(_line_end_before(file) + self._record(text) + b"\n")
        except OSError as error:
            raise self._failed("written", self._history, error) from error

    def keep_draft(self, text: str) -> None:
        """Save the unsent text; an empty text removes the draft."""
        try:
            if text.strip():
                file = self._own_file()
                there = content_of(file, most=_MOST_READ)
                put_file(file, self._record(text), there, mode=PRIVATE_FILE)
            elif self._own:
                self._own[0].unlink(missing_ok=True)
        except OSError as error:
            raise self._failed("written", self._drafts, error) from error

    def take_drafts(self) -> Sequence[str]:
        """The drafts that programs in this workspace left behind, the newest last. The newest becomes this
        program's own draft, and the others become messages."""
        try:
            found = sorted(self._drafts.glob("*.json"), key=lambda file: file.stat().st_mtime)
        except OSError:
            return ()
        left = {file: text for file in found if (text := self._left_in(file))}
        *older, newest = ("", *left.values())
        for text in filter(None, older):
            self.add(text)
        self.keep_draft(newest)
        for file in left:
            with suppress(OSError):
                file.unlink()
                file.with_suffix(".lock").unlink()
        return tuple(left.values())

    def keep_image(self, content: bytes, suffix: str) -> Path:
        """Save a pasted image as a file that a message can name. Returns its path. Deletes old ones."""
        name = hashlib.sha256(content).hexdigest()[:12]
        file = self._pasted / f"{name}.{suffix}"
        try:
            make_private(self._pasted)
            forget_old_files(self._pasted)
            put_file(file, content, content_of(file, most=_MOST_READ), mode=PRIVATE_FILE)
        except OSError as error:
            raise StorageFailed(f"{file} can't be written: {error.strerror}.") from error
        return file

    def close(self) -> None:
        """Release the draft: the next program in this workspace gets it."""
        if self._own:
            file, lock = self._own
            self._own = None
            lock.release()
            if not file.exists():
                Path(lock.lock_file).unlink(missing_ok=True)

    def _left_in(self, file: Path) -> str:
        """The draft in the file, "" if there is none, or if it belongs to another program or workspace."""
        try:
            with FileLock(file.with_suffix(".lock"), timeout=0):
                left = msgspec.json.decode(content_of(file, most=_MOST_READ) or b"", type=SavedPrompt)
        except (OSError, Timeout, msgspec.DecodeError):
            return ""
        return left.text if left.folder == self._folder else ""

    def _record(self, text: str) -> bytes:
        return msgspec.json.encode(SavedPrompt(self._folder, text.encode("utf-8", "replace").decode()))

    def _own_file(self) -> Path:
        if self._own is None:
            make_private(self._drafts)
            file = self._drafts / f"{secrets.token_hex(8)}.json"
            lock = FileLock(file.with_suffix(".lock"), timeout=0, mode=PRIVATE_FILE)
            lock.acquire()
            self._own = file, lock
        return self._own[0]

    def _halved(self, content: bytes) -> bytes:
        """Cut the file to the newer half of the messages and return that. Loses messages that another program
        adds meanwhile."""
        newer = content[len(content) // 2 :].partition(b"\n")[2]
        with suppress(OSError):
            put_file(self._history, newer, content)
        return newer

    def _failed(self, deed: str, file: Path, error: OSError) -> StorageFailed:
        return StorageFailed(f"{file} can't be {deed}: {error.strerror}. What you write is not remembered.")


def _line_end_before(file: BinaryIO) -> bytes:
    """The line end that a new line needs before it if the last line was never finished."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return b""
    file.seek(size - 1)
    return b"" if file.read(1) == b"\n" else b"\n"


def _messages(content: bytes) -> Iterator[SavedPrompt]:
    for line in content.splitlines():
        with suppress(msgspec.DecodeError):
            yield msgspec.json.decode(line, type=SavedPrompt)
