"""Commands whose changes aren't known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keen_tui.domain.facts.remembered import Remembered


class CommandUnwatched(Remembered, frozen=True, kw_only=True):
    """A command ran, and Keen couldn't see which files it changed."""

    LINE = TEXT = "Files changed by commands are not watched here"
    SIGN = "–"
    LABEL = ""
    IS_ENTRY = False

    @classmethod
    def read_from(cls, memory: Any) -> tuple[CommandUnwatched, ...]:
        return (cls(),) if memory.unwatched else ()

    @classmethod
    def fields(cls, facts: tuple[CommandUnwatched, ...]) -> Mapping[str, Any]:
        return {"unwatched": True}

    @classmethod
    def asides(cls, facts: Sequence[CommandUnwatched]) -> Iterable[str]:
        return ("commands aren't watched here",)
