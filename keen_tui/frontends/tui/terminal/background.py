"""Work that is too long for the event loop: it is done in threads, and who draws is told when it is done."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

SLICE_SECONDS: Final = 0.004
"""Seconds of work in the event loop before keys and paints get their turn. Two slices may follow each other
before a timer does."""
PATIENCE: Final = 0.008
"""Seconds that are waited for an errand before something else is drawn in its place."""

_log = logging.getLogger(__name__)
_late = 0
_listeners: dict[Callable[[], None], asyncio.AbstractEventLoop] = {}


class Errand:
    """Something that is worked out in a thread.

    Most are done within `PATIENCE`, and then nobody sees a difference. For the others all listeners are
    called once they are done. Where nobody listens nothing runs beside: it is done at once.
    """

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action
        self._done = threading.Event()
        self._is_late = False
        self._lock = threading.Lock()
        if not _listeners:
            self._run()
            return
        threading.Thread(target=self._run, name="errand", daemon=True).start()
        if not self._done.wait(PATIENCE):
            with self._lock:
                self._is_late = not self._done.is_set()

    @property
    def is_done(self) -> bool:
        """Whether it has come to its end, be it a failure, which is in the log then."""
        return self._done.is_set()

    def _run(self) -> None:
        try:
            self._action()
        except Exception:
            _log.exception("an errand failed")
        with self._lock:
            self._done.set()
            is_late = self._is_late
        if is_late:
            _tell()


def listen(changed: Callable[[], None]) -> None:
    """Have `changed` called in this event loop whenever an errand is done that was not waited for."""
    _listeners[changed] = asyncio.get_running_loop()


def leave(changed: Callable[[], None]) -> None:
    """Call it no more."""
    _listeners.pop(changed, None)


def late() -> int:
    """Number of jobs that finished after the grace period. Cached rows are stale when it has changed."""
    return _late


def _tell() -> None:
    global _late
    _late += 1
    for changed, loop in tuple(_listeners.items()):
        with suppress(RuntimeError):  # that loop is closed
            loop.call_soon_threadsafe(changed)
