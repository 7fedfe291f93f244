"""Assembles a Responses reply from its events. Pure: no network, no clock.

Everything that a server may add or leave out is tolerated; turn.md, "When a reply is complete", says what a
whole reply needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keen_tui.domain.errors import ServerBusy, StreamCut
from keen_tui.domain.messages import StepReply, StopReason, TokenUsage
from keen_tui.providers.openai.responses_items import OutputItem, OutputItems, PartKey, part_text
from keen_tui.providers.openai.searches import CALL, search_of
from keen_tui.providers.wire.event_reader import payload_of
from keen_tui.providers.wire.json_fields import count_of, object_of, objects_of, text_of
from keen_tui.providers.wire.provider import StepReasoning, StepText, StreamedPart
from keen_tui.providers.wire.reported import stream_error
from keen_tui.providers.wire.sse import ServerSentEvent
from keen_tui.providers.wire.stop_words import NamedEnd, end_word, incomplete_end
from keen_tui.providers.wire.wire_text import PieceMender

_DELTAS: Mapping[str, str] = {
    "response.output_text.delta": "output_text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning_text",
    "response.reasoning_summary_text.delta": "summary_text",
}
_WHOLE_TEXTS: Mapping[str, str] = {
    "response.output_text.done": "output_text",
    "response.refusal.done": "refusal",
    "response.reasoning_text.done": "reasoning_text",
    "response.reasoning_summary_text.done": "summary_text",
}
_WHOLE_PARTS = {"response.content_part.done", "response.reasoning_summary_part.done"}
_REASONING = {"reasoning_text", "summary_text"}
_VISIBLE = {"output_text", "refusal"}

_ENDS: Mapping[str, str] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
"""The events that end a response, and the status that each one means."""
_OPEN = {"in_progress", "queued"}
"""Statuses of a response that has not ended, whatever event they came in."""


class ResponsesAssembly:
    """Give it every event, then ask it to finish.

    Args:
        server: name of the server, for messages.
        taken_ids: ids of the tool calls in the request.
    """

    def __init__(self, server: str, taken_ids: Iterable[str] = ()) -> None:
        self._server = server
        self._items = OutputItems(taken_ids)
        self._text: list[str] = []
        self._text_flow = _Flow()
        self._reasoning_flow = _Flow()
        self._response_id = ""
        self._searched: list[OutputItem] = []
        self._end: NamedEnd | None = None
        self._refused = False
        self._usage = TokenUsage()

    @property
    def complete(self) -> bool:
        """Whether the response has ended as completed or incomplete; a failed one raises at once."""
        return self._end is not None

    @property
    def ended(self) -> bool:
        """The same as `complete`: this API always names the end."""
        return self.complete

    @property
    def closed(self) -> bool:
        """The same as `complete`: nothing after the end belongs to the reply."""
        return self.complete

    def take(self, event: ServerSentEvent) -> Sequence[StreamedPart]:
        """Take an event and return the text, reasoning and searches that it adds.

        Raises:
            ProviderError: the event is an error, or can't be read, and the reply is not complete.
        """
        if self.complete or event.data.strip() in ("", "[DONE]"):
            return ()
        payload = object_of(payload_of(event, self._server))
        return self.feed({"type": event.name, **payload})

    def feed(self, event: Mapping[str, Any]) -> list[StreamedPart]:
        """Take the payload of an event and return the text, reasoning and searches that it adds; unknown
        events add nothing.

        Raises:
            ProviderError: the event is an error, the reply failed, or another one began in the middle of it.
        """
        kind = text_of(event.get("type"))
        if kind == "response.created":
            self._begin(object_of(event.get("response")))
        elif kind == "response.output_item.added":
            self._items.begin(event)
        elif kind == "response.output_item.done":
            return self._take_whole_item(event)
        elif kind.startswith("response.function_call_arguments."):
            self._take_arguments(event)
        elif kind in _DELTAS:
            return self._take_delta(event, _DELTAS[kind])
        elif kind in _WHOLE_TEXTS:
            return self._take_whole_text(event, _WHOLE_TEXTS[kind], part_text(event))
        elif kind in _WHOLE_PARTS:
            part = object_of(event.get("part"))
            return self._take_whole_text(event, text_of(part.get("type")), part_text(part))
        elif kind in _ENDS:
            return self._take_end(kind, object_of(event.get("response")))
        elif kind == "error" or event.get("error"):
            raise stream_error(event, self._server)
        return []

    def finish(self) -> StepReply:
        """The complete reply.

        Raises:
            StreamCut: nothing said that the reply is complete.
        """
        if self._end is None:
            raise StreamCut(f"The reply of {self._server} ended before it was complete.")
        self._text.append(self._text_flow.finish())
        kept = self._items.kept(cut_off=self._end.leaves_calls_open)
        calls = tuple(call for _, call in kept if call)
        return StepReply(
            text="".join(self._text),
            tool_calls=calls,
            stop_reason=self._stop_reason(self._end.reason, bool(calls)),
            native=tuple(message for message, _ in kept),
            usage=self._usage,
            stop_word=self._end.word,
            is_cut=self._end.is_cut,
        )

    def _begin(self, response: Mapping[str, Any]) -> None:
        """Begin the reply. A second one in the same body is an error: the text on the screen would be
        doubled."""
        response_id = text_of(response.get("id"))
        if self._items and response_id != self._response_id:
            raise StreamCut(f"{self._server} began another reply before the first was complete.")
        self._response_id = response_id

    def _take_arguments(self, event: Mapping[str, Any]) -> None:
        self._items.of(event).add_arguments(text_of(event.get("delta")), text_of(event.get("arguments")))

    def _take_delta(self, event: Mapping[str, Any], kind: str) -> list[StreamedPart]:
        item, part = self._items.of(event), (kind, _place(event))
        if _shows_otherwise(item, kind):
            return []
        return self._seen(item, part, item.add_text(part, text_of(event.get("delta"))))

    def _take_whole_text(self, event: Mapping[str, Any], kind: str, whole: str) -> list[StreamedPart]:
        return self._see_rest(self._items.of(event), (kind, _place(event)), whole)

    def _take_whole_item(self, event: Mapping[str, Any]) -> list[StreamedPart]:
        if not object_of(event.get("item")).get("type"):
            return []
        item = self._items.end(event)
        if item.type == CALL and item.done is not None and item not in self._searched:
            self._searched.append(item)
            return [search_of(item.done)]
        return [seen for part, whole in item.whole_texts() for seen in self._see_rest(item, part, whole)]

    def _see_rest(self, item: OutputItem, part: PartKey, whole: str) -> list[StreamedPart]:
        """The part of the whole text that never came as a delta."""
        if _shows_otherwise(item, part[0]):
            return []
        return self._seen(item, part, item.rest_of(part, whole))

    def _seen(self, item: OutputItem, part: PartKey, piece: str) -> list[StreamedPart]:
        if not piece:
            return []
        kind, _ = part
        if kind in _REASONING:
            thought = self._reasoning_flow.add((item, part), piece)
            return [StepReasoning(thought)] if thought else []
        if kind not in _VISIBLE:
            return []
        self._refused = self._refused or kind == "refusal"
        text = self._text_flow.add(item, piece)
        self._text.append(text)
        return [StepText(text)] if text else []

    def _take_end(self, kind: str, response: Mapping[str, Any]) -> list[StreamedPart]:
        status = end_word(response.get("status")).lower() or _ENDS[kind]
        if "failed" in (status, _ENDS[kind]):
            raise stream_error({"error": response.get("error")}, self._server)
        if text_of(response.get("status")).lower() in _OPEN:
            return []
        end = self._read_end(_ENDS[kind] if status == "completed" else status, response)
        seen: list[StreamedPart] = []
        calls_only = self._items.any_done
        if not calls_only or self._items.has_open_call:  # some servers send whole items only here
            for place, item in enumerate(objects_of(response.get("output"))):
                if not calls_only or item.get("type") == "function_call":
                    seen += self._take_whole_item({"output_index": place, "item": item})
        if self._items.has_open_call and not end.leaves_calls_open:
            raise StreamCut(f"{self._server} ended its reply in the middle of a tool call.")
        self._usage = _read_usage(response.get("usage"))
        self._end = end
        return seen

    def _read_end(self, status: str, response: Mapping[str, Any]) -> NamedEnd:
        """The meaning of a status that ends a response. An unknown one doesn't count as a good end.

        Raises:
            ServerBusy, ReplyUnreadable: the status, or the reason for it, says that the server failed.
        """
        if status == "completed":
            return NamedEnd("stop")
        if status in ("cancelled", "canceled"):
            raise ServerBusy(f"{self._server} cut off the reply ({status}).")
        reason = end_word(object_of(response.get("incomplete_details")).get("reason"))
        return incomplete_end(reason or status, self._server)

    def _stop_reason(self, stop: StopReason, has_calls: bool) -> StopReason:
        if self._refused:
            return "refusal"
        return "tool_calls" if has_calls and stop in ("stop", "unknown") else stop


class _Flow:
    """Streamed text for the screen: mended, with a blank line between two sources."""

    def __init__(self) -> None:
        self._mender = PieceMender()
        self._source: object = None

    def add(self, source: object, piece: str) -> str:
        """The part of the piece that can be shown now."""
        gap = "" if self._source in (None, source) else "\n\n"
        self._source = source
        return self._mender.feed(gap + piece)

    def finish(self) -> str:
        """The text that was still held back."""
        return self._mender.finish()


def _place(event: Mapping[str, Any]) -> int:
    """The position of a part in its item."""
    content = count_of(event, "content_index")
    return content if content is not None else count_of(event, "summary_index") or 0


def _shows_otherwise(item: OutputItem, kind: str) -> bool:
    """Whether the item's reasoning is already being shown in its other form."""
    return kind in _REASONING and any(shown in _REASONING - {kind} for shown, _ in item.texts)


def _read_usage(usage: object) -> TokenUsage:
    """The counts that make sense."""
    given = object_of(object_of(usage).get("input_tokens_details"))
    made = object_of(object_of(usage).get("output_tokens_details"))
    return TokenUsage(
        input_tokens=count_of(usage, "input_tokens"),
        output_tokens=count_of(usage, "output_tokens"),
        cached_tokens=count_of(given, "cached_tokens"),
        reasoning_tokens=count_of(made, "reasoning_tokens"),
        cache_write_tokens=count_of(given, "cache_write_tokens"),
    )
