"""When Python looks for garbage: for young objects often and briefly, for all others when nobody types.

Python's own rule would look through everything in the middle of a turn: a tenth of a second without a key.
"""

from __future__ import annotations

import gc
from typing import Final

_YOUNG_OBJECTS: Final = 700
"""New objects after which the young ones are looked through."""
_YOUNG_ROUNDS: Final = 10
"""Such collections after which those that were left over are looked through, too."""
_NEVER: Final = 1_000_000
REST_SECONDS: Final = 3.0
"""Time from the end of a turn until `collect_new`."""
AWAY_SECONDS: Final = 300.0
"""Time from the end of a turn until `collect_all`."""


def tame() -> None:
    """From now on collect only young objects, and never look at those that are loaded now."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _YOUNG_ROUNDS, _NEVER)
    gc.enable()


def collect_new() -> None:
    """Collect the garbage among the objects that came since the last time. Those that stay aren't looked at
    again before `collect_all`: in a long session this would take a tenth of a second, while somebody types
    the next message."""
    gc.collect()
    gc.freeze()


def collect_all() -> None:
    """Collect all garbage."""
    gc.unfreeze()
    collect_new()
