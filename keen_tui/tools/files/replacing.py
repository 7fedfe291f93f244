"""Replaces a file only if it hasn't changed since it was read."""

from __future__ import annotations

import asyncio
import logging
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from keen_tui.domain.errors import ToolFailure
from keen_tui.system.atomic_write import HalfWritten, ReadOnly, put_file
from keen_tui.tools.files.backup import Backup
from keen_tui.tools.files.known_files import digest
from keen_tui.tools.files.reading import read_if_there, reason
from keen_tui.tools.files.workspace import ResolvedPath

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class _Damaged(ToolFailure):
    """The file has neither its old nor its new content."""


async def replace_file(
    place: ResolvedPath, before: bytes | None, after: bytes, backup: Backup | None = None
) -> None:
    """Replace the content `before` by `after`, once the backup has both. `before` None means a new file;
    missing folders are created.

    Once begun, it finishes even if the task is cancelled, so that the caller can report it.

    Raises:
        ToolFailure: the file has changed since it was read, or it can't be written.
    """
    await _finished(lambda: _replace(place, before, after, backup))


async def _finished(work: Callable[[], Result]) -> Result:
    """The result of `work` in a thread, even if the task is cancelled meanwhile."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    while not running.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({running})
    return running.result()


def _replace(place: ResolvedPath, before: bytes | None, after: bytes, backup: Backup | None) -> None:
    if backup is not None:
        keep_before_change(place, before, after, backup)
    try:
        _put(place, before, after)
    except ToolFailure as failure:
        if backup is not None and not isinstance(failure, _Damaged):
            backup.withdraw(place.path)
        raise


def keep_before_change(place: ResolvedPath, before: bytes | None, after: bytes, backup: Backup) -> None:
    """Tell the backup. No error here may stop the change. Blocks."""
    try:
        mode = None if before is None or not place.path.exists() else stat.S_IMODE(place.path.lstat().st_mode)
        backup.keep(place.path, place.name, before, after, mode)
    except Exception:
        log.exception("a file could not be kept before it was changed")


def _put(place: ResolvedPath, before: bytes | None, after: bytes) -> None:
    if digest(read_if_there(place)) != digest(before):
        raise ToolFailure(
            f"{place.name} has changed on disk since it was read. Read it again, then make the change."
        )
    try:
        put_file(place.path, after, before)
    except ReadOnly as error:
        raise ToolFailure(f"{place.name} is read-only. It was not changed.") from error
    except HalfWritten as error:
        words = f"{place.name} could only be written in part ({reason(error)}) and couldn't be restored."
        raise _Damaged(words) from error
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be written: {reason(error)}. It was not changed.") from error
