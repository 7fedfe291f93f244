"""Decides which calls of a reply may run, by how the reply ended, and tells the user about it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from keen_tui.domain.messages import StepReply, StopReason
from keen_tui.providers.wire.stop_words import CONTEXT_FULL, REPETITION

_BY_REASON: Mapping[StopReason, str] = {
    "length": 'The reply stops here: the model reached its output limit. Send "continue" to get the rest.',
    "refusal": "The model refused to answer.",
    "content_filter": "The provider's content filter ended the reply.",
}

_BY_WORD: Mapping[str, str] = {
    CONTEXT_FULL: "The reply stops here because the context window is full. /compact makes room.",
    REPETITION: "The server stopped the reply because the model kept repeating itself.",
    "incomplete": "The server says that this reply is incomplete, but not why.",
}

_NOT_RUN = "the server says that the reply with this call is not complete, so the call was not run"


def is_refused(reply: StepReply) -> bool:
    """Stop reasons that are final: calls that the reply had begun don't run."""
    return reply.stop_reason in ("refusal", "content_filter")


def is_context_full(reply: StepReply) -> bool:
    """Whether the reply stopped because the context window is full."""
    return reply.stop_word == CONTEXT_FULL


def stop_notice(reply: StepReply) -> str:
    """A sentence about an unusual end, "" for a usual one."""
    word = reply.stop_word
    if known := _BY_WORD.get(word, "") or _BY_REASON.get(reply.stop_reason, ""):
        return known
    if reply.is_cut:
        return f'The server says that this reply is not complete ("{word}").'
    return f'The server ended the reply with an unknown stop reason: "{word}".' if word else ""


def runnable(reply: StepReply) -> StepReply:
    """The reply with the calls that may run: none if the server itself calls the reply broken."""
    if not reply.is_cut:
        return reply
    calls = (replace(call, problem=call.problem or _NOT_RUN) for call in reply.tool_calls)
    return replace(reply, tool_calls=tuple(calls))
