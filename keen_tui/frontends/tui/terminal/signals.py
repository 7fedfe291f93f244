"""Signals that end the program from outside: it leaves as by its key, but asks nothing."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""What a system that shuts down sends, a terminal whose window is closed or whose connection is lost, and a
person who wants it to end now."""


@contextmanager
def ending(end: Callable[[], None]) -> Iterator[None]:
    """Inside, each such signal calls `end` in the event loop that runs, also while it is ending already."""
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, end)
    try:
        yield
    finally:
        for number in _ENDING:
            loop.remove_signal_handler(number)
