"""What lies beside sessions goes when it is old: their checkpoints, and the long output of their commands."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

log = logging.getLogger(__name__)

DAYS = 30
"""Days after which what lies beside a session is forgotten."""

LIMIT_BYTES = 2_000_000_000
"""Bytes that all sessions together may hold; the oldest are forgotten first."""

_DAY = 86_400.0


class _Held(Struct, frozen=True):
    """What one session keeps: when that last changed (seconds since the epoch), and how much it is."""

    folder: Path
    used: float
    bytes: int


def forget_old(
    root: Path, *, days: int = DAYS, limit_bytes: int = LIMIT_BYTES, spare: Collection[Path] = ()
) -> tuple[Path, ...]:
    """Remove the folders of old sessions; gives those that went.

    Each folder in `root` belongs to one session; those in `spare` are in use and stay. What
    can't be removed stays too: MUST NOT raise.
    """
    held = sorted(_all_held(root, set(spare)), key=lambda each: each.used)
    oldest = time.time() - days * _DAY
    total = sum(each.bytes for each in held)
    gone: list[Path] = []
    for each in held:
        if each.used >= oldest and total <= limit_bytes:
            break
        total -= each.bytes
        if _removed(each.folder):
            gone.append(each.folder)
    return tuple(gone)


def forget_old_files(folder: Path, *, days: int = DAYS) -> None:
    """Remove the files in a folder that nobody wrote for that long. What can't be removed stays."""
    oldest = time.time() - days * _DAY
    with suppress(OSError):
        for file in folder.iterdir():
            with suppress(OSError):
                if file.lstat().st_mtime < oldest:
                    file.unlink()


def _all_held(root: Path, spare: set[Path]) -> list[_Held]:
    try:
        folders = [folder for folder in root.iterdir() if folder.is_dir() and not folder.is_symlink()]
    except OSError:
        return []
    return [_held(folder) for folder in folders if folder not in spare]


def _held(folder: Path) -> _Held:
    used, size = 0.0, 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - called for thousands of files
            except OSError:
                continue
            used, size = max(used, status.st_mtime), size + status.st_size
    if not used:  # nothing is in it yet: it may be new
        with suppress(OSError):
            used = folder.stat().st_mtime
    return _Held(folder, used, size)


def _removed(folder: Path) -> bool:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        log.warning("what is old can't be removed: %s", error)
        return False
    return True
