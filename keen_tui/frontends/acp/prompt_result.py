"""Parts of the response to a prompt: the stop reason and the tokens of the turn."""

from __future__ import annotations

from collections.abc import Sequence

from acp.schema import StopReason
from acp.schema import Usage as TurnUsage

from keen_tui.domain.events import EndEvent, TurnDone, TurnError, TurnIncomplete, Usage


def stop_reason(end: EndEvent | None) -> StopReason:
    """The protocol's stop reason for the end of a turn. It has none for an interrupted turn: a message says
    that."""
    match end:
        case TurnDone(reason="length"):
            return "max_tokens"
        case TurnDone(reason="refusal" | "content_filter"):
            return "refusal"
        case TurnIncomplete(reason="interrupted") | TurnError(reason="interrupted"):
            return "cancelled"
        case TurnIncomplete(reason="step_limit"):
            return "max_turn_requests"
    return "end_turn"


def sum_of(steps: Sequence[Usage]) -> TurnUsage | None:
    """The tokens of all steps together; None if no step reported any."""
    if not steps:
        return None
    used = [step.tokens for step in steps]
    received, sent = (
        sum(each.output_tokens or 0 for each in used),
        sum(each.input_tokens or 0 for each in used),
    )
    return TurnUsage(
        total_tokens=sent + received,
        input_tokens=sent,
        output_tokens=received,
        thought_tokens=sum(each.reasoning_tokens or 0 for each in used),
        cached_read_tokens=sum(each.cached_tokens or 0 for each in used),
        cached_write_tokens=sum(each.cache_write_tokens or 0 for each in used),
    )
