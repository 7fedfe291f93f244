"""Pending state on the disk, for users who want that (turn.md rule 9): one file beside the session file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState
from keen_tui.storage.paths import private_opener, require_regular
from keen_tui.storage.records import parsed_pending, pending_text
from keen_tui.system.folders import make_private


class PendingFile:
    """Writes pending state in its own task: only the newest state, whole or not at all.

    Args:
        journal_flushed: waits for the session file; False if it couldn't be written. The session file has all
            events of the pending state before this file is written, and the end of the turn before this file
            is removed, so a crash in between loses nothing.
        on_problem: called with a sentence when writing fails.
        on_over: called with that sentence once writing has worked.
    """

    def __init__(
        self,
        path: Path,
        *,
        journal_flushed: Callable[[], Awaitable[bool]],
        on_problem: Callable[[str], None],
        on_over: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._path = path
        self._journal_flushed = journal_flushed
        self._on_problem = on_problem
        self._on_over = on_over
        self._problem = ""
        self._wanted: tuple[Identity, PendingState | None] | None = None
        self._task: asyncio.Task[None] | None = None

    def keep(self, identity: Identity, pending: PendingState | None) -> None:
        """Replace the saved state; None if nothing is pending any more."""
        self._wanted = (identity, pending)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_all(), name="pending file")

    async def kept(self) -> None:
        """Wait until everything is on the disk, or writing has failed."""
        while self._task and not self._task.done():
            await asyncio.wait({self._task})

    async def _write_all(self) -> None:
        while self._wanted:
            (identity, pending), self._wanted = self._wanted, None
            is_saved = await self._journal_flushed()
            try:
                if pending:
                    await asyncio.to_thread(_write, self._path, identity, pending)
                elif is_saved:
                    await asyncio.to_thread(_remove, self._path)
            except OSError as error:
                self._tell(f"Pending work is in memory only: {self._path} ({error.strerror}).")
            else:
                self._tell("")

    def _tell(self, problem: str) -> None:
        if self._problem and problem != self._problem:
            self._on_over(self._problem)
        if problem and problem != self._problem:
            self._on_problem(problem)
        self._problem = problem


def read_pending(path: Path) -> tuple[Identity, PendingState] | None:
    """The saved state, with the identity that it belongs to; None if nothing usable is saved."""
    try:
        require_regular(path)
        return parsed_pending(path.read_bytes())
    except (OSError, ValueError, StorageFailed):
        return None


def pending_files(folder: Path) -> tuple[Path, ...]:
    """The files with pending state in the folder, by the names that they have when they are whole."""
    with suppress(OSError):
        return tuple(
            {file.with_name(f"{file.name.partition('.')[0]}.pending") for file in folder.glob("*.pending*")}
        )
    return ()


def forget_pending(path: Path) -> None:
    """Remove the saved state, as far as the disk allows."""
    with suppress(OSError):
        _remove(path)


def _write(path: Path, identity: Identity, pending: PendingState) -> None:
    text = pending_text(identity, pending)
    make_private(path.parent)
    new = _half_written(path)
    with open(new, "w", encoding="utf-8", errors="surrogatepass", opener=private_opener) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _half_written(path).unlink(missing_ok=True)


def _half_written(path: Path) -> Path:
    return path.with_suffix(".pending.new")
