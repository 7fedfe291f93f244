"""Commands whose changes aren't known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keen_tui.domain.facts.remembered import Remembered


class CommandUnwatched(Remembered, frozen=True, kw_only=True):
    """A command ran, and Keen couldn't see which files it changed."""

    FIELD = "unwatched"
    LINE = TEXT = "Files changed by commands are not watched here"
    SIGN = "–"
    LABEL = ""
    IS_ENTRY = False
    MAY_CHANGE_FILES = True

    @classmethod
    def asides(cls, facts: Sequence[CommandUnwatched]) -> Iterable[str]:
        return ("commands aren't watched here",)
