"""A home and a folder for temporary files, shared by all commands of one run of the program.

Commands write there freely. So Keen reads no settings and runs no programs from there, and follows no link
there. A program removes its folders when it ends. It holds a lock on them, so that a later one recognises and
removes what a killed one left.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock
from msgspec import Struct

from keen_tui.system.folders import make_private, opened_folder
from keen_tui.system.trees import remove_tree

FOLDER: Final = "scratch"
"""Name of the folder in the data folder."""

_LOCK: Final = "lock"
_DEAD: Final = "dead-"
_PATIENCE: Final = 10.0
"""Seconds to wait while another program makes or renames a folder."""
_OWNER: Final = "owner"
_OWNERS: Final = f"shadow-*/{_OWNER}"
"""Files that commands can't reach: each says whose folder it is in."""
_KEPT_SECONDS: Final = 30 * 86_400.0
_FOR_EVERYBODY: Final = 0o1777
"""The mode of /tmp, which some programs check. The folder around it is private."""


class Folders(Struct, frozen=True, kw_only=True):
    """The folders that commands write to besides the workspace."""

    home: Path
    temporary: Path


Needed = Callable[[Folders], Iterable[Path]]


class Scratch:
    """The folders of this program, created in `parent` when a command first needs them.

    Without a parent, or if nothing can be created in it, they are in the system's folder for temporary files.
    """

    def __init__(self, parent: Path | None) -> None:
        self._parent = parent
        self._making = threading.Lock()
        self._own: Path | None = None

    @contextmanager
    def folders(self, *, lasting: bool, needed: Needed = lambda _: ()) -> Iterator[Folders]:
        """The folders that all commands share, or with `lasting` False new ones that are removed on leaving
        the context.

        `needed` names folders in them that have to exist.

        Raises:
            OSError: they can't be created.
        """
        if lasting:
            yield self._shared(needed)
            return
        once = Path(tempfile.mkdtemp(prefix="once-", dir=self._folder()))
        try:
            yield _made_in(once, needed)
        finally:
            remove_tree(once)

    @property
    def home(self) -> Path | None:
        """The home that commands share; None before the first one."""
        return self._own / "home" if self._own else None

    def new_folder(self, prefix: str) -> Path:
        """A new private folder beside the shared ones, which no command sees unless it is shown to it. Raises
        OSError."""
        return Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder()))

    def _shared(self, needed: Needed) -> Folders:
        """The shared folders, or new ones if commands left something in the way of the needed folders."""
        try:
            return _made_in(self._folder(), needed)
        except OSError:
            self._own = None
            return _made_in(self._folder(), needed)

    def _folder(self) -> Path:
        with self._making:
            if self._own is None or not self._own.is_dir():
                self._own, lock = _new_folder(self._parent)
                weakref.finalize(self, _remove, self._own, lock)
            return self._own


_in_use: weakref.WeakValueDictionary[Path | None, Scratch] = weakref.WeakValueDictionary()


def scratch_in(parent: Path | None) -> Scratch:
    """The scratch folders of this program in `parent`, shared by all users at the same time."""
    found = _in_use.get(parent)
    if found is None:
        found = _in_use[parent] = Scratch(parent)
    return found


def keep_for(folder: Path, owner: Path) -> None:
    """Keep a new folder for 30 days if this program is killed, until it is asked for by its owner. Raises
    OSError."""
    (folder / _OWNER).write_bytes(os.fsencode(owner))


def kept_folders(parent: Path, owner: Path) -> Iterator[Path]:
    """The folders that killed programs left for this owner. No other program gets one at the same time."""
    with suppress(OSError):
        for dead in _dead_in(parent) if parent.is_dir() else ():
            kept = [file.parent for file in dead.glob(_OWNERS) if file.read_bytes() == os.fsencode(owner)]
            if kept:
                with _lock(dead).acquire(timeout=0):
                    yield from kept


def _new_folder(parent: Path | None) -> tuple[Path, FileLock | None]:
    """A private folder, and the lock that tells others that it is in use."""
    if parent:
        with suppress(OSError, NotImplementedError):  # the disk is read-only, or has no locks
            make_private(parent)
            return _locked_folder(Path(os.path.realpath(parent)))
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="keen-scratch-"))), None


def _locked_folder(parent: Path) -> tuple[Path, FileLock]:
    with _lock(parent):
        own = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent))
        lock = _lock(own)
        lock.acquire(timeout=0)
    threading.Thread(target=_remove_dead, args=(parent,), name="removing scratch", daemon=True).start()
    return own, lock


def _remove_dead(parent: Path) -> None:
    """Remove the folders of killed programs, except what is kept in them."""
    with suppress(OSError):
        for folder in _dead_in(parent):
            is_new = time.time() - folder.stat().st_ctime < _KEPT_SECONDS
            kept = [file.parent for file in folder.glob(_OWNERS) if is_new]
            for each in {*folder.iterdir()} - {*kept, folder / _LOCK} if kept else (folder,):
                remove_tree(each)


def _dead_in(parent: Path) -> list[Path]:
    """The folders of killed programs, renamed while no program creates any. Raises OSError."""
    with _lock(parent):
        return [_set_apart(folder) for folder in parent.iterdir() if not _is_used(folder)]


def _is_used(folder: Path) -> bool:
    if folder.is_symlink() or not folder.is_dir():
        return True  # not one of ours
    try:
        with _lock(folder).acquire(timeout=0):
            return False
    except OSError:
        return True


def _set_apart(folder: Path) -> Path:
    return folder if folder.name.startswith(_DEAD) else folder.rename(folder.with_name(_DEAD + folder.name))


def _lock(folder: Path) -> FileLock:
    return FileLock(folder / _LOCK, timeout=_PATIENCE, mode=0o600, thread_local=False)


def _remove(folder: Path, lock: FileLock | None) -> None:
    remove_tree(folder)
    if lock:
        lock.release(force=True)


def _made_in(folder: Path, needed: Needed) -> Folders:
    """Create the missing parts of both folders, never through a link, and make them usable."""
    made = Folders(home=folder / "home", temporary=folder / "tmp")
    for path, mode in ((made.home, 0o700), (made.temporary, _FOR_EVERYBODY)):
        path.mkdir(exist_ok=True)
        path.chmod(mode)
    for path in needed(made):
        with opened_folder(path, make=True):
            pass
    return made
