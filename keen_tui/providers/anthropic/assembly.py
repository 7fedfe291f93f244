"""Assembles an Anthropic Messages reply from its events. Pure: no network, no clock.

Everything that a server may add or leave out is tolerated; turn.md, "When a reply is complete", says what a
whole reply needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from keen_tui.domain.errors import ProviderError, StreamCut
from keen_tui.domain.messages import NativeMessage, StepReply, TokenUsage, ToolCall
from keen_tui.providers.anthropic.searches import RESULT, query_of, search_of
from keen_tui.providers.wire.arguments import UniqueIds, parse_arguments, sendable_name
from keen_tui.providers.wire.event_reader import payload_of
from keen_tui.providers.wire.json_fields import count_of, object_of, text_of
from keen_tui.providers.wire.provider import StepReasoning, StepText, StreamedPart
from keen_tui.providers.wire.reported import stream_error
from keen_tui.providers.wire.sse import ServerSentEvent
from keen_tui.providers.wire.stop_words import NamedEnd, end_word, named_end
from keen_tui.providers.wire.wire_text import PieceMender, mended, mended_json

_PAUSE = "pause_turn"
_THINKING = ("thinking", "redacted_thinking")

_USAGE_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class PausedReply(StepReply, frozen=True):
    """The server paused its turn. It continues when it gets the reply so far back."""


class _Block(Struct):
    """A content block while it grows. `start` is its first form; the pieces come from its deltas."""

    start: Mapping[str, Any]
    texts: list[str] = field(default_factory=list)
    raw_input: list[str] = field(default_factory=list)
    signature: str = ""
    citations: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return text_of(self.start.get("type"))

    def piece(self, piece: str) -> str:
        self.texts.append(piece)
        return piece

    @property
    def text(self) -> str:
        return mended("".join(self.texts))

    @property
    def raw(self) -> str:
        """The arguments in the server's own text. Some servers send them whole with the start of the
        block."""
        given = self.start.get("input")
        return mended("".join(self.raw_input)) or (json.dumps(given) if given else "")


class AnthropicAssembly:
    """Give it every event, then ask it to finish.

    The output of a server's own tools, such as its web search, is kept unchanged: a turn that was paused for
    them continues only if the server finds it again. Blocks of unknown kinds are ignored.

    Args:
        server: name of the server, for messages.
        taken_ids: ids of the tool calls in the request.
        searches: the searches by id that a paused reply in the request began, and what they are for.
    """

    def __init__(
        self, server: str, taken_ids: Iterable[str] = (), searches: Mapping[str, str] | None = None
    ) -> None:
        self._server = server
        self._ids = UniqueIds(taken_ids)
        self._blocks: list[_Block] = []
        self._by_index: dict[int | None, _Block] = {}
        self._text: list[str] = []
        self._text_mender = PieceMender()
        self._reasoning_mender = PieceMender()
        self._stop = ""
        self._counts: dict[str, int] = {}
        self._reasoning_tokens: int | None = None
        self._web_searches: int | None = None
        self._searches = dict(searches or {})
        self.closed = False
        """Whether `message_stop` has arrived: nothing after it belongs to the reply."""

    @property
    def complete(self) -> bool:
        """Whether a `message_delta` with a stop reason has arrived."""
        return bool(self._stop)

    @property
    def ended(self) -> bool:
        """The same as `complete`: this API always names the end."""
        return self.complete

    def take(self, event: ServerSentEvent) -> Sequence[StreamedPart]:
        """Take an event and return the text, reasoning and searches that it adds.

        Raises:
            ProviderError: the event is an error, or can't be read, and the reply is not complete.
        """
        if self.closed or event.data.strip() in ("", "[DONE]"):
            return ()
        try:
            payload = object_of(payload_of(event, self._server))
            return self.feed({"type": event.name, **payload})
        except ProviderError:
            if not self.complete:
                raise
            return ()

    def feed(self, event: Mapping[str, Any]) -> list[StreamedPart]:
        """Take the payload of an event and return the text, reasoning and searches that it adds; unknown
        events add nothing.

        Raises:
            ProviderError: the event is an error, or another reply began in the middle of this one.
        """
        kind = text_of(event.get("type"))
        if kind == "error" or event.get("error"):
            raise stream_error(event, self._server)
        if kind == "message_stop":
            self.closed = self.complete
        elif kind == "message_delta":
            self._take_end(event)
        elif self.complete:
            return []
        elif kind == "message_start":
            self._begin(object_of(event.get("message")))
        elif kind == "content_block_start":
            return self._begin_block(event)
        elif kind == "content_block_delta":
            return self._take_delta(event)
        return []

    def finish(self) -> StepReply:
        """The complete reply, or a `PausedReply` if the server wants to continue it.

        Raises:
            StreamCut: nothing said that the reply is complete.
            ServerBusy, ReplyUnreadable: the server said that it failed (see `named_end`).
        """
        if not self.complete:
            raise StreamCut(f"The reply of {self._server} ended before it was complete.")
        end = NamedEnd("unknown") if self._stop == _PAUSE else named_end(self._stop, self._server)
        self._text.append(self._text_mender.finish())
        content: list[NativeMessage] = []
        calls: list[ToolCall] = []
        for block in self._blocks:
            call, sent = self._finished(block, end)
            calls += [call] if call else []
            content += [sent] if sent else []
        while content and content[-1]["type"] in _THINKING:  # the API refuses an empty one
            content.pop()
        kind = PausedReply if self._stop == _PAUSE and not calls else StepReply
        return kind(
            text="".join(self._text),
            tool_calls=tuple(calls),
            stop_reason="tool_calls" if calls and end.reason in ("stop", "unknown") else end.reason,
            native=({"role": "assistant", "content": content},) if content else (),
            usage=self._usage(),
            stop_word=end.word,
            is_cut=end.is_cut,
        )

    def _begin(self, message: Mapping[str, Any]) -> None:
        """Begin the reply. A second one in the middle of it spoils both: the text on the screen would be
        doubled."""
        if self._blocks:
            raise StreamCut(f"{self._server} began another reply before the first was complete.")
        self._count(message.get("usage"))

    def _begin_block(self, event: Mapping[str, Any]) -> list[StreamedPart]:
        block = _Block(object_of(event.get("content_block")))
        block.signature = text_of(block.start.get("signature"))
        self._add(block, event)
        if block.kind == RESULT:
            return [search_of(block.start, self._query(text_of(block.start.get("tool_use_id"))))]
        first = text_of(block.start.get("thinking" if block.kind == "thinking" else "text"))
        return self._seen(block, first)

    def _query(self, search_id: str) -> str:
        """Returns the query of a search, "" if it isn't known."""
        calls = (block for block in self._blocks if block.start.get("id") == search_id)
        arguments = (parse_arguments(block.raw, cut_off=False)[0] for block in calls)
        return next(map(query_of, ({"input": each} for each in arguments)), self._searches.get(search_id, ""))

    def _take_delta(self, event: Mapping[str, Any]) -> list[StreamedPart]:
        delta = object_of(event.get("delta"))
        block = self._by_index.get(count_of(event, "index"))
        if block is None:
            block = _Block(_start_of(delta))
            self._add(block, event)
        match delta.get("type"):
            case "text_delta":
                return self._seen(block, text_of(delta.get("text")))
            case "thinking_delta":
                return self._seen(block, text_of(delta.get("thinking")))
            case "signature_delta":
                block.signature = text_of(delta.get("signature"))
            case "input_json_delta":
                block.raw_input.append(text_of(delta.get("partial_json")))
            case "citations_delta":
                block.citations.append(object_of(delta.get("citation")))
        return []

    def _seen(self, block: _Block, piece: str) -> list[StreamedPart]:
        if block.kind == "thinking":
            thought = self._reasoning_mender.feed(block.piece(piece))
            return [StepReasoning(thought)] if thought else []
        if block.kind != "text":
            return []
        text = self._text_mender.feed(block.piece(piece))
        self._text.append(text)
        return [StepText(text)] if text else []

    def _take_end(self, event: Mapping[str, Any]) -> None:
        self._stop = self._stop or end_word(object_of(event.get("delta")).get("stop_reason"))
        self._count(event.get("usage"))

    def _finished(self, block: _Block, end: NamedEnd) -> tuple[ToolCall | None, NativeMessage | None]:
        """The tool call in a block, or None, and the block to send back, or None.

        Thinking goes back unmodified with its signature. Thinking without a signature is left out, and
        nothing else: a message that was cut never gets here, and every result must keep its call. A refused
        or filtered reply keeps no call, because the server may have stopped it anywhere, and the turn is
        done.
        """
        match block.kind:
            case "text" if block.text.strip():
                cited = {"citations": mended_json(block.citations)} if block.citations else {}
                return None, {"type": "text", "text": block.text, **cited}
            case "thinking" if block.signature:
                return None, {"type": "thinking", "thinking": block.text, "signature": block.signature}
            case "redacted_thinking":
                return None, dict(block.start)
            case "tool_use" if end.reason not in ("refusal", "content_filter"):
                return self._call(block, end)
            case "server_tool_use":
                return None, self._servers_call(block, end)
            case kind if kind.endswith("_tool_result"):
                return None, dict(block.start)
        return None, None

    def _servers_call(self, block: _Block, end: NamedEnd) -> NativeMessage | None:
        """A call that the server ran itself, or None if it isn't whole, or was cut off before its result."""
        arguments, problem = parse_arguments(block.raw, cut_off=end.leaves_calls_open)
        has_result = any(each.start.get("tool_use_id") == block.start.get("id") for each in self._blocks)
        is_lost = end.leaves_calls_open and not has_result
        return None if problem or is_lost else {**block.start, "input": arguments}

    def _call(self, block: _Block, end: NamedEnd) -> tuple[ToolCall, NativeMessage]:
        arguments, problem = parse_arguments(block.raw, cut_off=end.leaves_calls_open)
        call_id = self._ids.claim(mended(text_of(block.start.get("id"))))
        name = mended(text_of(block.start.get("name")))
        call = ToolCall(id=call_id, name=name, arguments=arguments, problem=problem)
        sent = {"id": call_id, "name": sendable_name(name), "input": arguments}
        return call, mended_json({**block.start, **sent})

    def _add(self, block: _Block, event: Mapping[str, Any]) -> None:
        """Begin or extend a block. A start always begins a new block, even at an index that is in use."""
        self._blocks.append(block)
        self._by_index[count_of(event, "index")] = block

    def _count(self, usage: object) -> None:
        """Note token counts. They are cumulative, so the newest one counts."""
        for name in _USAGE_FIELDS:
            count = count_of(usage, name)
            if count is not None:
                self._counts[name] = count
        searches = count_of(object_of(usage).get("server_tool_use"), "web_search_requests")
        self._web_searches = self._web_searches if searches is None else searches
        reasoning = count_of(object_of(usage).get("output_tokens_details"), "thinking_tokens")
        self._reasoning_tokens = self._reasoning_tokens if reasoning is None else reasoning

    def _usage(self) -> TokenUsage:
        """The usage in our own terms: `input_tokens` is the whole input, including what was read from the
        cache or written to it."""
        fresh, output, read, written = (self._counts.get(name) for name in _USAGE_FIELDS)
        return TokenUsage(
            input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
            output_tokens=output,
            cached_tokens=read,
            reasoning_tokens=self._reasoning_tokens,
            cache_write_tokens=written,
            web_searches=self._web_searches,
        )


def _start_of(delta: Mapping[str, Any]) -> Mapping[str, Any]:
    """A start for a block whose start the server left out, as far as the first delta reveals it."""
    kinds = {"text_delta": "text", "thinking_delta": "thinking"}
    return {"type": kinds.get(text_of(delta.get("type")), "")}
