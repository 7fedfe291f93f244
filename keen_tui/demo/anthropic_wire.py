"""The Anthropic Messages API as a server speaks it: scripted replies out, requests in."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from keen_tui.demo.script import Call, Fail, Refuse, Reply, ReplyPart, Say, Seen, SeenCall, Think, WireEvent
from keen_tui.demo.wire_json import sse
from keen_tui.domain.messages import StopReason, TokenUsage

_STOP_REASONS: Mapping[StopReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
    "unknown": "end_turn",
}
_THOUGHTS = ("thinking", "redacted_thinking")


def encode(reply: Reply, body: Mapping[str, Any], number: int) -> list[WireEvent]:
    """The events of the reply to the request `body`, the `number`th of the server."""
    return list(_AnthropicEncoder(reply, body, number).events())


def read(body: Mapping[str, Any]) -> list[Seen]:
    """The messages of a request, the system prompt first; tool results apart from the user's words."""
    messages = [Seen("system", _text(body["system"]))] if body.get("system") else []
    for message in body.get("messages", ()):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            messages.append(_assistant(blocks))
        else:
            messages += _of_user(blocks)
    return messages


def _assistant(blocks: list[Mapping[str, Any]]) -> Seen:
    calls = tuple(
        SeenCall(block["id"], block["name"], block["input"])
        for block in blocks
        if block["type"] == "tool_use"
    )
    thought = tuple(block for block in blocks if block["type"] in _THOUGHTS)
    return Seen("assistant", _text(blocks), calls, thought=thought)


def _of_user(blocks: list[Mapping[str, Any]]) -> Iterator[Seen]:
    for block in blocks:
        if block["type"] == "tool_result":
            content = block["content"]
            yield Seen("tool", _text(content), call_id=block["tool_use_id"], images=_images(content))
    images = _images(blocks)
    if (text := _text(blocks)) or images:
        yield Seen("user", text, images=images)


def _images(content: Any) -> tuple[str, ...]:
    if isinstance(content, str):
        return ()
    return tuple(block["source"]["data"] for block in content if block["type"] == "image")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(block["text"] for block in content if block["type"] == "text")


class _AnthropicEncoder:
    def __init__(self, reply: Reply, body: Mapping[str, Any], number: int) -> None:
        self._reply = reply
        self._model = str(body.get("model", ""))
        self._number = number

    def events(self) -> Iterator[WireEvent]:
        yield self._start()
        yield _event("ping", {})
        calls = 0
        for index, part in enumerate(self._reply.parts):
            if isinstance(part, Fail):
                yield _event("error", {"error": {"type": part.type, "message": part.message}})
                return
            yield from self._block(part, index, calls)
            calls += isinstance(part, Call)
        yield from self._ending()

    def _start(self) -> WireEvent:
        message: dict[str, Any] = {
            "id": f"msg_{self._number}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        usage = {"usage": _input_usage(self._reply.usage)} if self._reply.usage is not None else {}
        return _event("message_start", {"message": message | usage})

    def _block(self, part: ReplyPart, index: int, calls: int) -> Iterator[WireEvent]:
        yield _event("content_block_start", {"index": index, "content_block": self._first(part, calls)})
        for delta, kind in self._deltas(part):
            yield _event("content_block_delta", {"index": index, "delta": delta}, kind)
        yield _event("content_block_stop", {"index": index})

    def _first(self, part: ReplyPart, calls: int) -> dict[str, Any]:
        match part:
            case Think():
                return {"type": "thinking", "thinking": "", "signature": ""}
            case Call(name=name, id=given):
                call_id = f"toolu_{self._number}_{calls}" if given is None else given
                return {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        return {"type": "text", "text": ""}

    def _deltas(
        self, part: ReplyPart
    ) -> Iterator[tuple[dict[str, Any], Literal["delta", "arguments", "other"]]]:
        match part:
            case Think(text):
                for piece in self._pieces(text):
                    yield {"type": "thinking_delta", "thinking": piece}, "delta"
                yield {"type": "signature_delta", "signature": _signature(self._number, text)}, "other"
            case Say(text) | Refuse(text):
                for piece in self._pieces(text):
                    yield {"type": "text_delta", "text": piece}, "delta"
            case Call(arguments=arguments):
                raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
                for piece in ("", *self._pieces(raw)):
                    yield {"type": "input_json_delta", "partial_json": piece}, "arguments"

    def _ending(self) -> Iterator[WireEvent]:
        reply = self._reply
        refused = any(isinstance(part, Refuse) for part in reply.parts)
        reason = "refusal" if refused else _STOP_REASONS[reply.stop_reason]
        if reply.send_finish:
            payload: dict[str, Any] = {"delta": {"stop_reason": reason, "stop_sequence": None}}
            if reply.usage is not None:
                payload["usage"] = _output_usage(reply.usage)
            yield _event("message_delta", payload, "terminal")
        if reply.send_done:
            yield _event("message_stop", {}, "terminal")

    def _pieces(self, text: str) -> Iterator[str]:
        size = self._reply.delta_size
        return (text[start : start + size] for start in range(0, len(text), size))


def _event(
    name: str,
    fields: Mapping[str, Any],
    kind: Literal["delta", "arguments", "terminal", "other"] = "other",
) -> WireEvent:
    return WireEvent(sse({"type": name, **fields}, name), kind)


def _signature(number: int, text: str) -> str:
    return b64encode(f"{number} {text}".encode(errors="replace")).decode()


def _output_usage(usage: TokenUsage) -> dict[str, Any]:
    counts: dict[str, Any] = {"output_tokens": usage.output_tokens or 0}
    if usage.reasoning_tokens is not None:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return counts


def _input_usage(usage: TokenUsage) -> dict[str, int]:
    """The API counts what the cache had or took apart from the rest."""
    read, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    return {
        "input_tokens": max((usage.input_tokens or 0) - read - written, 0),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }
