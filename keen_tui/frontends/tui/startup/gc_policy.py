"""When Python looks for garbage: among young objects often and briefly, among all others while nobody types.

Python's own rule would look through everything in the middle of a turn: a tenth of a second without a key.
"""

from __future__ import annotations

import gc
from typing import Final

_YOUNG_OBJECTS: Final = 700
"""New objects after which the young ones are looked through."""
_YOUNG_ROUNDS: Final = 10
"""Collections of these after which the objects that survived them are looked through, too."""
_NEVER: Final = 1_000_000
REST_SECONDS: Final = 60.0
"""Time without a turn, a key or the mouse until `collect`. It takes a tenth of a second or more in a long
session."""


def tame() -> None:
    """From now on collect only young objects, and never look at those that are loaded now."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _YOUNG_ROUNDS, _NEVER)
    gc.enable()


def collect() -> None:
    """Collect all garbage."""
    gc.collect()
