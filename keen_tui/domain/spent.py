"""Sums of tokens and dollars."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from keen_tui.domain.events import Usage


class Spent(Struct, frozen=True, kw_only=True):
    """What steps used together. `cost` is in US dollars, None as soon as that of one step is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0

    def __bool__(self) -> bool:
        return bool(self.input_tokens or self.output_tokens)

    def plus(self, usage: Usage) -> Spent:
        """With one more step."""
        tokens = usage.tokens
        step = Spent(
            input_tokens=tokens.input_tokens or 0,
            output_tokens=tokens.output_tokens or 0,
            cached_tokens=tokens.cached_tokens or 0,
            cost=usage.cost,
        )
        return self.joined(step)

    def joined(self, other: Spent) -> Spent:
        """Both together. The cost is known where that of each is."""
        return self._with(other, 1)

    def without(self, parts: Iterable[Spent]) -> Spent:
        """What is left of it beside its parts. The cost is known where that of each part is."""
        rest = self
        for part in parts:
            rest = rest._with(part, -1)
        return rest

    def _with(self, other: Spent, sign: int) -> Spent:
        known = self.cost is not None and other.cost is not None
        return Spent(
            input_tokens=self.input_tokens + sign * other.input_tokens,
            output_tokens=self.output_tokens + sign * other.output_tokens,
            cached_tokens=self.cached_tokens + sign * other.cached_tokens,
            cost=(self.cost or 0.0) + sign * (other.cost or 0.0) if known else None,
        )


NOTHING = Spent()
