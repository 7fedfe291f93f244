"""Assembles a Chat Completions reply from its chunks. Pure: no network, no clock.

Everything that a server may add or leave out is tolerated; turn.md, "When a reply is complete", says what a
whole reply needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keen_tui.domain.errors import ProviderError, StreamCut
from keen_tui.domain.messages import StepReply, StopReason, TokenUsage
from keen_tui.providers.openai.chat_calls import CallAssembly
from keen_tui.providers.wire.event_reader import payload_of
from keen_tui.providers.wire.json_fields import count_of, text_of
from keen_tui.providers.wire.provider import StepReasoning, StepText
from keen_tui.providers.wire.reported import stream_error
from keen_tui.providers.wire.sse import ServerSentEvent
from keen_tui.providers.wire.stop_words import UNNAMED, NamedEnd, broken_end, end_word, is_failure, named_end
from keen_tui.providers.wire.wire_text import PieceMender, mended, mended_json

_REASONING_FIELDS = ("reasoning_content", "reasoning")
VENDOR_FIELDS = frozenset((*_REASONING_FIELDS, "reasoning_details", "extra_content"))
"""Fields that only the model that sent them may get back."""


class ChatAssembly:
    """Give it every event, then ask it to finish.

    Args:
        server: name of the server, for messages.
        taken_ids: ids of the tool calls in the request.
    """

    def __init__(self, server: str, taken_ids: Iterable[str] = ()) -> None:
        self._server = server
        self._text: list[str] = []
        self._text_mender = PieceMender()
        self._reasoning_mender = PieceMender()
        self._calls = CallAssembly(taken_ids)
        self._vendor = _VendorFields()
        self._usage = TokenUsage()
        self._finish = ""
        self._objection = ""
        self._refused = False
        self._has_begun = False
        self._has_usage = False
        self.closed = False
        """Whether `[DONE]` has arrived: nothing after it belongs to the reply."""

    @property
    def complete(self) -> bool:
        """Whether a finish reason or `[DONE]` has arrived, or a usage chunk with no more of the reply after
        it."""
        return self.ended or self._has_usage

    @property
    def ended(self) -> bool:
        """Whether a finish reason or `[DONE]` has arrived: after a usage chunk alone the reply may still
        continue."""
        return bool(self._finish) or self.closed

    def take(self, event: ServerSentEvent) -> Sequence[StepText | StepReasoning]:
        """Take an event and return the text and reasoning that it adds.

        Raises:
            ProviderError: the event is an error, or can't be read, and the reply is not complete.
        """
        data = event.data.strip()
        if data == "[DONE]":
            self.closed = True
        elif data and not self.closed:
            try:
                return self.feed(payload_of(event, self._server))
            except ProviderError:
                if not self.complete:
                    raise
        return ()

    def feed(self, chunk: object) -> list[StepText | StepReasoning]:
        """Take a chunk and return the text and reasoning that it adds.

        Raises:
            ProviderError: the chunk is an error object, and the reply is not complete.
        """
        if not isinstance(chunk, Mapping):
            return []
        if chunk.get("error") or chunk.get("object") == "error":
            error = stream_error(chunk, self._server)
            if not self.complete:
                raise error
            self._object(str(error))
            return []
        choices = chunk.get("choices")
        choices = choices if isinstance(choices, list) else []
        first = next((each for each in choices if isinstance(each, Mapping) and not each.get("index")), {})
        seen = self._take_choice(first)
        if usage := _read_usage(chunk.get("usage")):
            self._usage = usage
            self._has_usage = self._has_usage or not choices
        return seen

    def finish(self) -> StepReply:
        """The complete reply.

        Raises:
            StreamCut: nothing said that the reply is complete.
            ServerBusy, ReplyUnreadable: the server said that it failed (see `named_end`).
        """
        if not self.complete:
            raise StreamCut(f"The reply of {self._server} ended before it was complete.")
        end = self._end()
        self._text.append(self._text_mender.finish())
        text = "".join(self._text)
        calls = self._calls.finish(cut_off=end.leaves_calls_open)
        native: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
        if calls:
            native["tool_calls"] = [message for _, message in calls]
        return StepReply(
            text=text,
            tool_calls=tuple(call for call, _ in calls),
            stop_reason=self._stop_reason(end),
            native=(native | self._vendor.collected(),),
            usage=self._usage,
            stop_word=end.word,
            is_cut=end.is_cut,
        )

    def _take_choice(self, choice: Mapping[str, Any]) -> list[StepText | StepReasoning]:
        delta = choice.get("delta")
        delta = delta if isinstance(delta, Mapping) else {}
        self._vendor.feed(delta)
        seen: list[StepText | StepReasoning] = []
        if not self._finish:  # text after a finish reason is a second reply, not more of this one
            self._note_usage_before(delta)
            seen = self._take_delta(delta)
            self._finish = end_word(choice.get("finish_reason"))
        elif delta.get("tool_calls"):
            self._object("more tool calls after its end")
        elif (word := end_word(choice.get("finish_reason"))) and is_failure(word):
            self._object(word)
        return seen

    def _object(self, words: str) -> None:
        """Note that something after the end says that the reply isn't whole. Only the first one is
        reported."""
        self._objection = self._objection or words

    def _end(self) -> NamedEnd:
        end = named_end(self._finish, self._server) if self._finish else UNNAMED
        return broken_end(self._objection) if self._objection else end

    def _note_usage_before(self, delta: Mapping[str, Any]) -> None:
        """Ignore the end in a usage chunk if more of the reply follows it: that chunk was an interim count.
        Some servers name the role again at the very end, so the role alone counts only where it begins the
        reply."""
        if any(value for name, value in delta.items() if name != "role" or not self._has_begun):
            self._has_begun, self._has_usage = True, False

    def _take_delta(self, delta: Mapping[str, Any]) -> list[StepText | StepReasoning]:
        text, thought = _content(delta.get("content"))
        refusal = text_of(delta.get("refusal"))
        self._refused = self._refused or bool(refusal)
        self._calls.feed(delta.get("tool_calls"))
        named = (text_of(delta.get(name)) for name in _REASONING_FIELDS)
        reasoning = next(filter(None, named), thought)
        seen: list[StepText | StepReasoning] = []
        if piece := self._reasoning_mender.feed(reasoning):
            seen.append(StepReasoning(piece))
        if piece := self._text_mender.feed(text + refusal):
            self._text.append(piece)
            seen.append(StepText(piece))
        return seen

    def _stop_reason(self, end: NamedEnd) -> StopReason:
        if self._refused:
            return "refusal"
        return "tool_calls" if self._calls and end.reason in ("stop", "unknown") else end.reason


class _VendorFields:
    """Fields that some servers want back unmodified in the assistant message of the same turn."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._details: list[_Detail] = []
        self._extra: Any = None

    def feed(self, delta: Mapping[str, Any]) -> None:
        for name in _REASONING_FIELDS:
            if piece := text_of(delta.get(name)):
                self._texts.setdefault(name, []).append(piece)
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, Mapping):
                self._add_detail(detail)
        self._extra = delta.get("extra_content") or self._extra

    def collected(self) -> dict[str, Any]:
        fields: dict[str, Any] = {name: mended("".join(pieces)) for name, pieces in self._texts.items()}
        if self._details:
            fields["reasoning_details"] = mended_json([detail.whole() for detail in self._details])
        if self._extra:
            fields["extra_content"] = mended_json(self._extra)
        return fields

    def _add_detail(self, fragment: Mapping[str, Any]) -> None:
        """OpenRouter streams one detail as fragments of the same type and index."""
        known = self._details[-1] if self._details else None
        if known is None or not _continues(known.fields, fragment):
            known = _Detail()
            self._details.append(known)
        known.add(fragment)


class _Detail:
    """One reasoning detail while it grows: its texts as pieces, and the newest value of every other field."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, fragment: Mapping[str, Any]) -> None:
        for name, value in fragment.items():
            if name in ("text", "summary") and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
                self.fields.setdefault(name, "")
            elif value or name not in self.fields:
                self.fields[name] = value

    def whole(self) -> dict[str, Any]:
        return self.fields | {name: "".join(pieces) for name, pieces in self._texts.items()}


def _continues(known: Mapping[str, Any], detail: Mapping[str, Any]) -> bool:
    if not isinstance(detail.get("index"), int) or "data" in detail:
        return False
    one_id = not known.get("id") or not detail.get("id") or known["id"] == detail["id"]
    return one_id and all(known.get(name) == detail.get(name) for name in ("index", "type"))


def _content(content: object) -> tuple[str, str]:
    """Text and reasoning of a content field, which is a string or, from some servers, a list of parts."""
    if not isinstance(content, list):
        return text_of(content), ""
    parts = [part for part in content if isinstance(part, Mapping)]
    text = "".join(text_of(part.get("text")) for part in parts)
    return text, "".join(_content(part.get("thinking"))[0] for part in parts)


def _read_usage(usage: object) -> TokenUsage | None:
    """The counts that make sense; None if there are none at all."""
    if not isinstance(usage, Mapping) or not usage:
        return None
    cached = count_of(usage.get("prompt_tokens_details"), "cached_tokens")
    return TokenUsage(
        input_tokens=count_of(usage, "prompt_tokens"),
        output_tokens=count_of(usage, "completion_tokens"),
        cached_tokens=cached if cached is not None else count_of(usage, "prompt_cache_hit_tokens"),
        reasoning_tokens=count_of(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )
