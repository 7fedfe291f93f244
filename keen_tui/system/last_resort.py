"""Ends the program for certain, when it was told to end from outside."""

from __future__ import annotations

import os
import threading
from typing import Final

PATIENCE: Final = 30.0
"""Seconds for saving everything and ending what runs."""


def end_at_last(seconds: float = PATIENCE) -> None:
    """End the process with exit code 1 if it still runs after so many seconds, whatever it waits for."""
    timer = threading.Timer(seconds, os._exit, (1,))
    timer.daemon = True  # the process doesn't wait for it
    timer.start()
