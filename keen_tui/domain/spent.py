"""Sums of tokens and dollars, and what they would have been with the whole history."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from keen_tui.domain.events import Compacted, Event, SessionOpened, TurnAbandoned, TurnDone, Usage

BYTES_PER_TOKEN = 4.0
"""Bytes per token, until a provider has reported the tokens of a request."""


class LeftOut(Struct, frozen=True):
    """The `bytes` that a request of the session leaves out of the whole history: calls and results of earlier
    turns, as the policy `full-trace` would send them, and whatever was summarised.

    Each turn adds what the policy in use then left out of it, each summary adds what it saved. Memory that
    the user edits changes nothing here.
    """

    bytes: int = 0

    def after(self, event: Event) -> LeftOut:
        """With what this event adds. Events of earlier versions know only the size of the trace."""
        match event:
            case TurnDone() | TurnAbandoned():
                whole = event.trace_bytes if event.whole_bytes is None else event.whole_bytes
                return self.more(whole, event.carried_bytes)
            case Compacted():
                return self.more(event.bytes_before, event.bytes_after)
            case SessionOpened():
                return LeftOut()
        return self

    def more(self, whole: int, held: int) -> LeftOut:
        """With the difference between the `whole` bytes and those that later requests hold."""
        return LeftOut(self.bytes + max(whole - held, 0))

    @property
    def tokens(self) -> int:
        """The same in tokens, estimated."""
        return round(self.bytes / BYTES_PER_TOKEN)


NOTHING_LEFT_OUT = LeftOut()


class Spent(Struct, frozen=True, kw_only=True):
    """What steps used together. `cost` is in US dollars, None as soon as that of one step is not known.

    `whole_tokens` is what `input_tokens` would have been if each request had held the whole history:
    reported tokens, and estimated ones for what was left out. `web_searches` are those that the provider
    reported; their price isn't in `cost`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    whole_tokens: int = 0
    cost: float | None = 0.0
    web_searches: int = 0

    def __bool__(self) -> bool:
        return bool(self.input_tokens or self.output_tokens)

    @property
    def new_tokens(self) -> int:
        """The tokens that were sent and were in no prompt cache."""
        return max(self.input_tokens - self.cached_tokens, 0)

    def plus(self, usage: Usage, left_out: LeftOut = NOTHING_LEFT_OUT) -> Spent:
        """With one more step, whose request left that out. Requests outside turns, for a summary or a title,
        and those of sub-agents leave nothing out."""
        tokens = usage.tokens
        more = left_out.tokens if usage.turn and tokens.input_tokens and not usage.agent else 0
        step = Spent(
            input_tokens=tokens.input_tokens or 0,
            output_tokens=tokens.output_tokens or 0,
            cached_tokens=tokens.cached_tokens or 0,
            whole_tokens=(tokens.input_tokens or 0) + more,
            cost=usage.cost,
            web_searches=tokens.web_searches or 0,
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
            whole_tokens=self.whole_tokens + sign * other.whole_tokens,
            cost=(self.cost or 0.0) + sign * (other.cost or 0.0) if known else None,
            web_searches=self.web_searches + sign * other.web_searches,
        )


NOTHING = Spent()
