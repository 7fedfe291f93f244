"""Signals are heard soon, also while readline is at work.

Readline hears a signal only while it waits for a key: one that comes just before lies there until the next
key is pressed. So behind each signal another one is sent, until that one is heard.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

NUDGE: Final = signal.SIGUSR2
_AGAIN_AFTER: Final = 0.02
"""Seconds in which a signal is heard by a thread that waits."""


@contextmanager
def nudged(is_waited: Callable[[], bool]) -> Iterator[None]:
    """Inside, the main thread hears signals soon while `is_waited`. To be entered in the main thread."""
    nudger = _Nudger(is_waited)
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    before = signal.signal(NUDGE, nudger.note)
    wakeup_before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    thread = threading.Thread(target=nudger.follow, args=(reads,), name="nudge", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup_before)
        os.close(writes)  # the thread reads its end and is done
        thread.join()
        os.close(reads)
        signal.signal(NUDGE, before)


class _Nudger:
    """No lock is shared with the handler: another one may end it anywhere by an exception."""

    def __init__(self, is_waited: Callable[[], bool]) -> None:
        self._is_waited = is_waited
        self._heard = 0

    def note(self, number: int, frame: object) -> None:
        """In the main thread: all signals up to here were heard."""
        self._heard += 1

    def follow(self, reads: int) -> None:
        """Send a nudge behind each signal that came, until it is heard."""
        main = threading.main_thread().ident or 0
        while came := os.read(reads, 64):
            if set(came) <= {NUDGE}:
                continue
            heard = self._heard
            while self._is_waited() and heard == self._heard:
                signal.pthread_kill(main, NUDGE)
                time.sleep(_AGAIN_AFTER)
