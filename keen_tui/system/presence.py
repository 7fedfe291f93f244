"""Which programs of Keen's work in a folder: each one has a file with a lock, which ends with the program.

A killed program's file has no lock any more, so whoever looks next removes it. Looking lists one folder, and
tries one lock for each program that is there.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from keen_tui.system.folders import make_private, workspace_folder
from keen_tui.system.paths import data_folder

FOLDER: Final = "here"
_MOST_BYTES: Final = 10_000
_BEGINNING: Final = ".new-"


class Present(Struct, frozen=True, kw_only=True):
    """A program in a folder. `since` is in seconds since the epoch, `session` the id of its session, and
    `title` what that is about, both "" while that isn't known."""

    pid: int
    since: float
    session: str = ""
    title: str = ""


class Presence:
    """This program in a folder, and the others there. All methods block for less than a millisecond, and none
    raises: where no file can be made or locked, nobody is seen."""

    def __init__(self, environ: Mapping[str, str], workspace: Path) -> None:
        self.folder = _folder(environ, workspace)
        self._own = Present(pid=os.getpid(), since=time.time())
        self._file = self.folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"
        self._descriptor = -1

    def enter(self) -> None:
        """Be seen from now on. The file gets its name when it is locked: nobody takes it for a dead one."""
        beginning = self._file.with_name(f"{_BEGINNING}{self._file.name}")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            make_private(self.folder)
            self._descriptor = os.open(beginning, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write()
            beginning.rename(self._file)
        except OSError:
            self.leave()
            return
        self._wake()

    def note(self, session: str, title: str) -> None:
        """Say what this program works on."""
        noted = msgspec.structs.replace(self._own, session=session, title=title)
        if noted != self._own:
            self._own = noted
            if self._descriptor >= 0:
                with suppress(OSError):
                    self._write()

    def others(self) -> tuple[Present, ...]:
        """The other programs here, the oldest first."""
        return _present(self.folder, self._file.name)

    def leave(self) -> None:
        """Be seen no more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)  # wakes those who watch the folder, which a removal alone doesn't
            for file in (self._file, self._file.with_name(f"{_BEGINNING}{self._file.name}")):
                with suppress(OSError):
                    file.unlink()

    def _write(self) -> None:
        content = msgspec.json.encode(self._own)
        os.pwrite(self._descriptor, content, 0)
        os.ftruncate(self._descriptor, len(content))

    def _wake(self) -> None:
        """Wake those who watch the folder: they see that a file was closed, and not that it got a name."""
        with suppress(OSError):
            os.close(os.open(self._file, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC))


def present_in(environ: Mapping[str, str], workspace: Path) -> tuple[Present, ...]:
    """The programs of Keen's in that folder, the oldest first."""
    return _present(_folder(environ, workspace), "")


def _folder(environ: Mapping[str, str], workspace: Path) -> Path:
    return workspace_folder(Path(os.path.realpath(data_folder(environ)), FOLDER), workspace)


def _present(folder: Path, own: str) -> tuple[Present, ...]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - at every turn
    except OSError:
        return ()
    found = (_read(folder / name) for name in names if name != own and not name.startswith(_BEGINNING))
    return tuple(sorted(filter(None, found), key=lambda each: each.since))


def _read(file: Path) -> Present | None:
    """The program of that file; None if it has ended. Then the file is removed."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        file.unlink()
    except BlockingIOError:
        return _decoded(os.read(descriptor, _MOST_BYTES))
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return None


def _decoded(content: bytes) -> Present | None:
    try:
        return msgspec.json.decode(content, type=Present)
    except msgspec.MsgspecError:
        return None  # it is being written
