"""When Python looks for garbage: among young objects between frames, among all others while nobody types.

Python's own rule would look through everything in the middle of a turn: a tenth of a second without a key.
And it would look through young objects in the middle of a frame, while many of them are still in use.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Final

_YOUNG_OBJECTS: Final = 700
"""New objects after which the young ones are looked through once the frame is painted."""
_MOST_YOUNG_OBJECTS: Final = 3_500
"""New objects after which they are looked through even in the middle of a frame."""
_YOUNG_ROUNDS: Final = 4
"""Collections of young objects after which the next one also looks through those that survived."""
_PAUSE: Final = 0.005
"""Seconds after a picture. The keys that came while it was painted are handled first."""
_NEVER: Final = 1_000_000
REST_SECONDS: Final = 60.0
"""Time without a turn, a key or the mouse until `collect`. It takes a tenth of a second or more in a long
session."""


def tame() -> None:
    """From now on collect only young objects, and never look at those that are loaded now."""
    gc.freeze()
    gc.set_threshold(_MOST_YOUNG_OBJECTS, _YOUNG_ROUNDS, _NEVER)
    gc.enable()


def collect_young() -> None:
    """Collect young garbage, if there are enough young objects and `tame` was called."""
    young, rounds, _ = gc.get_count()
    if gc.isenabled() and young >= _YOUNG_OBJECTS:
        gc.collect(0 if rounds < _YOUNG_ROUNDS else 1)


def picture_is_done(loop: asyncio.AbstractEventLoop) -> None:
    """Collect young garbage in a moment."""
    loop.call_later(_PAUSE, collect_young)


def collect() -> None:
    """Collect all garbage."""
    gc.collect()
