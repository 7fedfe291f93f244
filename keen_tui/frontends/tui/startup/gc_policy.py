"""When Python looks for garbage: among what is new often and shortly, among everything while nobody is there.

Python's own rule would look through everything in the middle of a turn: a tenth of a second without a key.
"""

from __future__ import annotations

import gc
from typing import Final

_YOUNG_OBJECTS: Final = 700
_YOUNG_ROUNDS: Final = 10
_NEVER: Final = 1_000_000
REST_SECONDS: Final = 3.0
"""So long after the end of a turn what came since the last time is looked through."""
AWAY_SECONDS: Final = 300.0
"""So long after it everything is looked through."""


def tame() -> None:
    """From now on collect only what is young. What is loaded stays: it is not looked at any more."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _YOUNG_ROUNDS, _NEVER)
    gc.enable()


def collect_new() -> None:
    """Collect the garbage among what came since the last time. The rest isn't looked at any more: it would
    take a tenth of a second in a long session, when the next message may be half written."""
    gc.collect()
    gc.freeze()


def collect_all() -> None:
    """Collect all garbage."""
    gc.unfreeze()
    collect_new()
