"""Empty folders in place of missing protected names, only while commands run.

A read-only mount needs a mount point, and there is no other way to block a missing name. So an empty folder
is created before a command and removed after it. It contains a folder of our own, so that no session removes
it while another one needs it: only empty folders can be removed. A small process waits for Keen to end and
removes what a killed session left.
"""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_MARK = "keen-sandbox-"

_JANITOR = 'read -r nothing; sleep 1; for each in "$@"; do rmdir "$each/$0"; rmdir "$each"; done 2>/dev/null'
"""Reads until the pipe that only Keen has open is closed, by which time the commands are being killed."""


class Placeholders:
    """The placeholders of one session, for a fixed list of names."""

    def __init__(self, names: Sequence[Path]) -> None:
        self._names = tuple(names)
        self._mark = f"{_MARK}{os.getpid()}"
        self._running = 0
        self._lock = threading.Lock()
        self._janitor: subprocess.Popen[bytes] | None = None

    @contextmanager
    def standing(self) -> Iterator[tuple[Path, ...]]:
        """Inside, nothing can be created under a missing name. Yields the names with a placeholder.

        Raises:
            OSError: the workspace can't be written to.
        """
        with self._lock:
            self._running += 1
        try:
            yield self._make()
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._clear()

    def _make(self) -> tuple[Path, ...]:
        """Make the placeholders, even if another session has made one too."""
        missing = tuple(name for name in self._names if is_free(name))
        if missing:
            with self._lock:
                self._janitor = self._janitor or self._start_janitor()
        return tuple(name for name in missing if self._stands(name))

    def _stands(self, name: Path) -> bool:
        """Make a placeholder. False if that is forbidden, because then no command may do it either."""
        try:
            (name / self._mark).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                return False
            raise
        return True

    def _clear(self) -> None:
        for name in self._names:
            marks = _marks(name)
            for mark in marks:
                if mark == self._mark or not _lives(mark):
                    with suppress(OSError):
                        (name / mark).rmdir()
            if marks:
                with suppress(OSError):
                    name.rmdir()  # only where nothing else is in it

    def _start_janitor(self) -> subprocess.Popen[bytes]:
        janitor = subprocess.Popen(
            ("/bin/sh", "-c", _JANITOR, self._mark, *map(os.fspath, self._names)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            start_new_session=True,
        )
        weakref.finalize(self, _dismiss, janitor)
        return janitor


def _dismiss(janitor: subprocess.Popen[bytes]) -> None:
    with janitor, suppress(PermissionError):  # in a confined thread; then it ends on its own
        janitor.kill()


def is_free(name: Path) -> bool:
    """Whether the name has only placeholders, of this session or another, dead or alive."""
    marks = _marks(name)
    return not os.path.lexists(name) or (bool(marks) and marks == _entries(name))


def _marks(name: Path) -> list[str]:
    return [each for each in _entries(name) if each.startswith(_MARK)]


def _entries(name: Path) -> list[str]:
    try:
        return [each.name for each in name.iterdir()]
    except OSError:
        return []


def _lives(mark: str) -> bool:
    """Whether the session of a mark may still be alive."""
    try:
        os.kill(int(mark.removeprefix(_MARK)), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return True
