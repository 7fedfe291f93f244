"""When to read on: several pieces of a reply together cost hardly more than one."""

from __future__ import annotations

from typing import Final

PAUSE: Final = 0.016
"""Seconds in which pieces may gather, half of the time between two pictures."""

_READ_AS_THEY_COME: Final = 32
"""Pieces at the beginning of a reply that are read at once: a short one isn't worth a pause."""
_THERE_ALREADY: Final = 0.000_5
"""Seconds within which a piece comes that needn't be waited for."""


class ReadPace:
    """The pauses in the reading of one reply.

    Waiting for the network costs as much as all else that is done with a small piece. So when all pieces that
    came have been read and the next one had to be waited for, there is a pause before the one after it. If
    pieces are further apart than the pause, there is none: it wouldn't gather any.
    """

    def __init__(self) -> None:
        self._pieces = 0

    def pause_after(self, waited: float) -> float:
        """Seconds to pause between a piece that took `waited` seconds to come and the next one."""
        self._pieces += 1
        gathers = self._pieces > _READ_AS_THEY_COME and _THERE_ALREADY < waited < PAUSE
        return PAUSE if gathers else 0.0
