"""The limits of one page."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

MOST_CHARACTERS: Final = 32_000
"""Characters of a page that the model gets at once; a file has the rest."""


class FetchLimits(Struct, frozen=True, kw_only=True):
    """The limits of one fetch: bytes of the unpacked page, seconds in all, redirects, and seconds for turning
    HTML into text."""

    bytes: int = 5_000_000
    seconds: float = 20.0
    redirects: int = 5
    text_seconds: float = 20.0
