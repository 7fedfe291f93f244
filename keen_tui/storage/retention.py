"""Deletes old data of sessions: checkpoints, long output of commands, and quarantined files."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keen_tui.storage.paths import private_opener
from keen_tui.system.trees import remove_tree, walk

log = logging.getLogger(__name__)

DAYS = 30
"""Days after which this data is deleted."""

LIMIT_BYTES = 2_000_000_000
"""Bytes that the data of all sessions may have; the oldest is deleted first."""

_DAY = 86_400.0


class _Held(Struct, frozen=True):
    """The data of one session: when it last changed (seconds since the epoch), and its bytes."""

    folder: Path
    used: float
    bytes: int


def forget_old(
    root: Path,
    *,
    days: int = DAYS,
    limit_bytes: int = LIMIT_BYTES,
    in_use: Callable[[str], bool] = lambda session_id: False,
) -> tuple[Path, ...]:
    """Delete the folders of old sessions. Returns the deleted ones.

    Each folder in `root` belongs to one session and is named by its id. Folders of sessions that are `in_use`
    stay; only those that would be deleted are checked. A folder that can't be deleted stays too. MUST NOT
    raise.
    """
    held = sorted(_all_held(root), key=lambda each: each.used)
    oldest = time.time() - days * _DAY
    total = sum(each.bytes for each in held)
    gone: list[Path] = []
    for each in held:
        if each.used >= oldest and total <= limit_bytes:
            break
        if in_use(each.folder.name):
            continue
        total -= each.bytes
        if _removed(each.folder):
            gone.append(each.folder)
    return tuple(gone)


def is_due(stamp: Path) -> bool:
    """Whether a day has passed since this was last true, according to the file `stamp`. False if that file
    can't be written: then nothing can be deleted either."""
    try:
        with open(stamp, "ab", opener=private_opener) as file:
            if file.tell() and time.time() - os.fstat(file.fileno()).st_mtime < _DAY:
                return False
            file.truncate(0)
            file.write(b"old checkpoints and outputs were looked for\n")
    except OSError:
        return False
    return True


def forget_old_files(folder: Path, *, days: int = DAYS) -> None:
    """Delete the files in a folder that haven't changed for that long. A file that can't be deleted stays."""
    oldest = time.time() - days * _DAY
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if file.lstat().st_mtime < oldest:
                    file.unlink()


def _all_held(root: Path) -> list[_Held]:
    try:
        folders = [folder for folder in root.iterdir() if folder.is_dir() and not folder.is_symlink()]
    except OSError:
        return []
    return [_held(folder) for folder in folders]


def _held(folder: Path) -> _Held:
    used, size = 0.0, 0
    for place, _, names in walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - called for thousands of files
            except OSError:
                continue
            used, size = max(used, status.st_mtime), size + status.st_size
    if not used:  # it is empty: it may be new
        with suppress(OSError):
            used = folder.stat().st_mtime
    return _Held(folder, used, size)


def _removed(folder: Path) -> bool:
    remove_tree(folder)
    if os.path.lexists(folder):
        log.warning("%s is old and can't be removed", folder)
        return False
    return True
