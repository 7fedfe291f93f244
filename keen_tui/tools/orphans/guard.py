"""Makes sure that no command outlives the program: tells a watcher which ones run, and records them on the
disk."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from keen_tui.text.redaction import masked
from keen_tui.tools.orphans.records import CommandRecord, boot_id
from keen_tui.tools.orphans.strays import start_of

_WATCHER: Final = Path(__file__).with_name("watcher.py")
_LONGEST_LABEL: Final = 300


class Guard:
    """The guard of one process. All methods may be called in any thread."""

    def __init__(self) -> None:
        self.records: Path | None = None
        self._lock = threading.Lock()
        self._running: dict[str, str] = {}
        self._watcher: subprocess.Popen[bytes] | None = None

    @contextmanager
    def command(self, mark: str, label: str) -> Iterator[_Watched]:
        """Watch a command from before it starts; leave the context once all of its processes have ended.

        `mark` is in its environment (`strays.MARK`), `label` is its name for people.
        """
        watched = _Watched(self, mark, label)
        self._note(mark, f"+ {mark}")
        try:
            yield watched
        finally:
            self._note(mark, "")
            watched.forget()

    def _note(self, mark: str, line: str) -> None:
        """Tell the watcher. If it has died, start a new one and tell it everything that runs."""
        with self._lock:
            if line:
                self._running[mark] = line
            else:
                self._running.pop(mark, None)
            watcher = self._watcher
            if watcher and watcher.poll() is None and _written(watcher, [line or f"- {mark}"]):
                return
            self._watcher = None
            if self._running:
                self._watcher = _started(self)
                if self._watcher:
                    _written(self._watcher, list(self._running.values()))


class _Watched:
    """A command that is watched."""

    def __init__(self, guard: Guard, mark: str, label: str) -> None:
        self._guard = guard
        self._mark = mark
        self._label = label
        self._file: Path | None = None

    def started(self, leader: int) -> None:
        """Note the process, which leads its own group. If the disk can't be written, only the watcher
        knows."""
        start = start_of(leader)
        self._guard._note(self._mark, f"+ {self._mark} {leader} {start}")
        if self._guard.records:
            record = CommandRecord(
                boot=boot_id(), program=os.getpid(), program_start=start_of(os.getpid()), leader=leader,
                start=start, mark=self._mark, command=masked(self._label)[:_LONGEST_LABEL],
            )  # fmt: skip
            with suppress(OSError):
                self._file = record.write(self._guard.records)

    def forget(self) -> None:
        if self._file:
            with suppress(OSError):
                self._file.unlink()


@cache
def guard() -> Guard:
    """The guard of this process."""
    return Guard()


def _started(owner: Guard) -> subprocess.Popen[bytes] | None:
    """A watcher; None if the system can't start one: then there are only the records on the disk."""
    try:
        watcher = subprocess.Popen(
            (sys.executable, "-I", "-S", os.fspath(_WATCHER)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin"},
            start_new_session=True,
            bufsize=0,
        )
    except OSError:
        return None
    weakref.finalize(owner, _dismiss, watcher)
    return watcher


def _written(watcher: subprocess.Popen[bytes], lines: list[str]) -> bool:
    assert watcher.stdin
    try:
        watcher.stdin.write("".join(f"{line}\n" for line in lines).encode())
    except OSError:
        return False
    return True


def _dismiss(watcher: subprocess.Popen[bytes]) -> None:
    """Close the pipe: the watcher kills what still runs, and ends."""
    with watcher, suppress(OSError):
        assert watcher.stdin
        watcher.stdin.close()
