"""The stop reasons of servers, and what each means. One table for all APIs.

Servers that imitate an API add words of their own, so every API knows all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from keen_tui.domain.errors import ReplyUnreadable, ServerBusy
from keen_tui.domain.messages import StopReason

WORD_LIMIT = 60
"""Characters of an unknown word that are shown."""

CONTEXT_FULL = "model_context_window_exceeded"
REPETITION = "repetition"

_REASONS: Mapping[str, StopReason] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "complete": "stop",
    "completed": "stop",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",  # Mistral
    CONTEXT_FULL: "length",  # Anthropic, Z.ai: the text so far is whole and usable
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "sensitive": "content_filter",  # Z.ai
    "safety": "content_filter",  # Google, as the following
    "image_safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "guardrail_intervened": "content_filter",  # Bedrock
    "refusal": "refusal",
}

_CUT = {REPETITION, "incomplete"}
"""The server ended the reply before it was whole, and would do so again."""

_FAILURES = {
    "error",  # OpenRouter
    "abort",  # vLLM
    "aborted",
    "cancelled",
    "canceled",
    "failed",
    "insufficient_system_resource",  # DeepSeek
    "internal_error",
    "network_error",  # Z.ai
    "server_error",
    "timeout",
}
"""The server gave up; it may succeed the next time."""

_MALFORMED = {
    "malformed_function_call",  # Google, as the following
    "malformed_response",
    "unexpected_tool_call",
    "too_many_tool_calls",
    "function_call_filter",
}
"""The model wrote a call that the server couldn't read. It may write a better one the next time."""

_NO_WORDS = {"", "null", "none", "in_progress"}


class NamedEnd(Struct, frozen=True):
    """An end that the server named. `word` is the server's own word if it says more than `reason`.

    `is_cut`: the server itself says that the reply isn't whole, so none of its calls may run.
    """

    reason: StopReason
    word: str = ""
    is_cut: bool = False

    @property
    def leaves_calls_open(self) -> bool:
        """Whether a call without arguments may be one whose arguments never came."""
        return self.reason == "length" or bool(self.word)


UNNAMED = NamedEnd("unknown")
"""The end of a reply whose server never says why."""


def end_word(value: object) -> str:
    """The server's word for an end; "" for words that end nothing, such as "null" and "in_progress"."""
    word = value.strip() if isinstance(value, str) else ""
    return "" if word.lower() in _NO_WORDS else word


def named_end(word: str, server: str) -> NamedEnd:
    """The meaning of an end with this word. An unknown word gets the reason "unknown" and is kept.

    Raises:
        ServerBusy: the server says that it failed.
        ReplyUnreadable: the server says that it couldn't read a call of the model.
    """
    known = _known(word)
    if known in _FAILURES:
        raise ServerBusy(f"{server} cut off the reply ({_short(word)}).")
    if known in _MALFORMED:
        raise ReplyUnreadable(f"The model made a tool call that {server} couldn't read ({_short(word)}).")
    if known in _CUT:
        return NamedEnd("unknown", known, is_cut=True)
    reason = _REASONS.get(known, "unknown")
    return NamedEnd(reason, _short(word) if reason == "unknown" else known if known == CONTEXT_FULL else "")


def incomplete_end(word: str, server: str) -> NamedEnd:
    """The meaning of a reply that the server calls incomplete for the reason `word` ("" for none).

    Raises:
        ServerBusy, ReplyUnreadable: as `named_end`.
    """
    end = named_end(word, server) if word else UNNAMED
    if end.reason in ("length", "content_filter", "refusal"):
        return end
    return broken_end(end.word or word or "incomplete")


def broken_end(words: str) -> NamedEnd:
    """The end of a reply that the server itself calls incomplete, in these words."""
    return NamedEnd("unknown", _short(words), is_cut=True)


def is_failure(word: str) -> bool:
    """Whether the word says that the server failed, or that it couldn't read a call of the model."""
    return _known(word) in _FAILURES | _MALFORMED


def _known(word: str) -> str:
    """The word in the form of the tables. Google puts a word of the API first: "content_filter: SAFETY"."""
    plain = word.lower().replace("-", "_")
    general, _, special = plain.partition(":")
    tables = (_REASONS, _CUT, _FAILURES, _MALFORMED)
    candidates = (plain, special.strip(), general.strip())
    return next((each for each in candidates if any(each in table for table in tables)), plain)


def _short(word: str) -> str:
    return word if len(word) <= WORD_LIMIT else word[:WORD_LIMIT] + "…"
