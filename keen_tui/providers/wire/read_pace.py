"""When to read on. Reading several pieces of a reply at once saves the waiting for each."""

from __future__ import annotations

from typing import Final

PAUSE: Final = 0.016
"""Seconds in which pieces may gather, about half of the time between two pictures."""

_READ_AS_THEY_COME: Final = 32
"""Pieces at the beginning of a reply that are read at once: a short one isn't worth a pause."""
_THERE_ALREADY: Final = 0.000_5
"""A piece that takes longer than these seconds had to be waited for."""
_MANY: Final = 64
"""So many pieces since the last wait gather by themselves: a reply that comes so fast needs no pause."""


class ReadPace:
    """The pauses in the reading of one reply.

    Waiting for a small piece costs about as much as reading it. So when all pieces that came have been read
    and the next one had to be waited for, there is a pause before the one after it. There is none if at most
    one piece would gather in it.
    """

    def __init__(self) -> None:
        self._pieces = 0
        self._since_wait = 0

    def pause_after(self, waited: float) -> float:
        """Seconds to pause between a piece that took `waited` seconds to come and the next one."""
        self._pieces += 1
        self._since_wait += 1
        if waited <= _THERE_ALREADY:
            return 0.0
        came, self._since_wait = self._since_wait, 0
        gathers = self._pieces > _READ_AS_THEY_COME and came < _MANY and waited < PAUSE / 2
        return PAUSE if gathers else 0.0
