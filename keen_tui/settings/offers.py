"""The offers that the program has made to the user, in a small file of their own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from keen_tui.system.atomic_write import put_file
from keen_tui.system.safe_read import content_of

_MOST_BYTES: Final = 10_000
_PRIVATE: Final = 0o600


class Offers:
    """Knows what was offered; a file that can't be read holds nothing, and one that can't be written is
    remembered until the program ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._made: set[str] = set()

    def first_time(self, offer: str) -> bool:
        """Whether this offer is made for the first time; it is written down. Blocks; never raises."""
        before: bytes | None = None
        made: list[str] = []
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            before = content_of(self._file, most=_MOST_BYTES)
            made = msgspec.json.decode(before, type=list[str]) if before else []
        if offer in self._made or offer in made:
            return False
        self._made.add(offer)
        with suppress(OSError):
            put_file(self._file, msgspec.json.encode([*made, offer]) + b"\n", before, mode=_PRIVATE)
        return True
