"""Pages that were read, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from keen_tui.domain.facts.remembered import Remembered

_MOST_ASIDE: Final = 5
"""Pages that a narrow column names; more are counted."""


class PageRead(Remembered, frozen=True, kw_only=True):
    """A tool read the page at this address. No request ever says so."""

    FIELD = "pages_read"
    VALUE = ONCE_BY = "url"
    TEXT = "{url}"
    CAME_TO = "read, not carried"
    SIGN = "→"
    LABEL = "Read, not remembered: "
    IS_CARRIED = IS_ENTRY = False

    url: str

    @classmethod
    def asides(cls, facts: Sequence[PageRead]) -> Iterator[str]:
        for fact in facts[:_MOST_ASIDE]:
            yield f"read {fact.url.partition('://')[2] or fact.url}"
        if (more := len(facts) - _MOST_ASIDE) > 0:
            yield f"read {more:,} more page{'s' if more > 1 else ''}"
