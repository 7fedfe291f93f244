"""Signals are heard soon, also while readline is at work.

Readline hears a signal only while it waits for a key: one that comes just before lies there until the next
key is pressed. So behind each signal another one is sent, until that one is heard.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

NUDGE: Final = signal.SIGUSR2
_AGAIN_AFTER: Final = 0.02
"""Seconds in which a signal is heard by a thread that waits."""


@contextmanager
def nudged(is_waited: Callable[[], bool]) -> Iterator[None]:
    """Inside, the main thread hears signals soon while `is_waited`. To be entered in the main thread."""
    heard = threading.Event()
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    before = signal.signal(NUDGE, lambda number, frame: heard.set())
    wakeup_before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    thread = threading.Thread(target=_nudge, args=(reads, heard, is_waited), name="nudge", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup_before)
        os.close(writes)  # the thread reads its end and is done
        thread.join()
        os.close(reads)
        signal.signal(NUDGE, before)


def _nudge(reads: int, heard: threading.Event, is_waited: Callable[[], bool]) -> None:
    main = threading.main_thread().ident or 0
    while came := os.read(reads, 64):
        if set(came) <= {NUDGE}:
            continue
        while is_waited():
            heard.clear()
            signal.pthread_kill(main, NUDGE)
            if heard.wait(_AGAIN_AFTER):
                break
