"""Done with all saved sessions behind the start: old ones are removed, the index is brought up to date."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from keen_tui.storage.lookup.sessions import SessionStore

INDEX_SECONDS = 5.0
"""How long after the start the index of sessions is brought up to date."""


class Upkeep:
    """Works in threads from `start` on.

    Args:
        indexes: whether to build what makes lists and searches of many sessions fast.
    """

    def __init__(self, store: SessionStore, *, indexes: bool) -> None:
        self._store = store
        self._indexes = indexes
        self._cleaning: asyncio.Task[Any] | None = None
        self._indexing: asyncio.Task[Any] | None = None
        self._is_leaving = threading.Event()

    def start(self) -> None:
        """Begin."""
        self._cleaning = asyncio.create_task(asyncio.to_thread(self._store.forget_old))
        if self._indexes:
            self._indexing = asyncio.create_task(self._index())

    def stop_indexing(self) -> None:
        """Stop indexing. The rest is left to the next start."""
        self._is_leaving.set()
        if self._indexing:
            self._indexing.cancel()

    async def wait(self) -> None:
        """Wait until what is old has been removed."""
        if self._cleaning:
            await self._cleaning

    async def _index(self) -> None:
        await asyncio.sleep(INDEX_SECONDS)
        await asyncio.to_thread(self._store.update_index, self._is_leaving)
