"""OpenAI Chat Completions as a server speaks it: scripted replies out, requests in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keen_tui.demo.script import (
    Call,
    Fail,
    Refuse,
    Reply,
    ReplyPart,
    Say,
    Seen,
    SeenCall,
    Think,
    WireEvent,
)
from keen_tui.demo.wire_json import sse
from keen_tui.domain.messages import StopReason, TokenUsage

DONE = b"data: [DONE]\n\n"
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


def encode(reply: Reply, body: Mapping[str, Any], number: int) -> list[WireEvent]:
    """The events of the reply to the request `body`, the `number`th of the server."""
    return list(_ChatEncoder(reply, body, number).events())


def read(body: Mapping[str, Any]) -> list[Seen]:
    """The messages of a request."""
    return [_seen(message) for message in body.get("messages", ())]


def _seen(message: Mapping[str, Any]) -> Seen:
    calls = tuple(
        SeenCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    )
    thought = tuple(message[name] for name in _THOUGHT_FIELDS if name in message)
    text, images = said(message.get("content") or "")
    return Seen(message["role"], text, calls, message.get("tool_call_id", ""), thought, images)


def said(content: str | Sequence[Mapping[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """The text of a message and its images, as both APIs of OpenAI have them."""
    if isinstance(content, str):
        return content, ()
    words = (part for part in content if "image_url" not in part)
    text = "\n\n".join(part.get("text") or part.get("refusal") or "" for part in words)
    addresses = [part["image_url"] for part in content if "image_url" in part]
    images = (address if isinstance(address, str) else address["url"] for address in addresses)
    return text, tuple(image.partition(";base64,")[2] for image in images)


class _ChatEncoder:
    def __init__(self, reply: Reply, body: Mapping[str, Any], number: int) -> None:
        self._reply = reply
        self._model = str(body.get("model", ""))
        self._wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        self._number = number

    def events(self) -> Iterator[WireEvent]:
        yield self._choice({"role": "assistant", "content": ""}, "other")
        calls = 0
        for part in self._reply.parts:
            if isinstance(part, Fail):
                yield _error_event(part)
                return
            yield from self._part(part, calls)
            calls += isinstance(part, Call)
        yield from self._ending()

    def _part(self, part: ReplyPart, index: int) -> Iterator[WireEvent]:
        match part:
            case Say(text):
                yield from self._texts("content", text)
            case Think(text):
                yield from self._texts("reasoning_content", text)
            case Refuse(text):
                yield from self._texts("refusal", text)
            case Call():
                yield from self._call(part, index)

    def _texts(self, field: str, text: str) -> Iterator[WireEvent]:
        for piece in self._pieces(text):
            yield self._choice({field: piece}, "delta")

    def _call(self, call: Call, index: int) -> Iterator[WireEvent]:
        first: dict[str, Any] = {"index": index, "type": "function"}
        call_id = f"call_{self._number}_{index}" if call.id is None else call.id
        if call_id:
            first["id"] = call_id
        first["function"] = {"name": call.name, "arguments": ""}
        yield self._choice({"tool_calls": [first]}, "other")
        raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        for piece in self._pieces(raw):
            fragment = {"index": index, "function": {"arguments": piece}}
            yield self._choice({"tool_calls": [fragment]}, "arguments")

    def _ending(self) -> Iterator[WireEvent]:
        reply = self._reply
        if reply.send_finish:
            yield self._choice({}, "terminal", _finish_reason(reply.stop_reason))
        if reply.usage is not None and self._wants_usage:
            payload = self._chunk([]) | {"usage": _usage(reply.usage)}
            yield WireEvent(sse(payload), "terminal")
        if reply.send_done:
            yield WireEvent(DONE, "terminal")

    def _choice(self, delta: dict[str, Any], kind: Any, finish: str | None = None) -> WireEvent:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return WireEvent(sse(self._chunk([choice])), kind)

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._number}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self._model,
            "choices": choices,
        }

    def _pieces(self, text: str) -> Iterator[str]:
        size = self._reply.delta_size
        return (text[start : start + size] for start in range(0, len(text), size))


def _error_event(fail: Fail) -> WireEvent:
    return WireEvent(sse({"error": {"message": fail.message, "type": fail.type, "code": fail.code}}))


def _finish_reason(reason: StopReason) -> str:
    """Chat has no finish reason for a refusal: it says stop."""
    return "stop" if reason in ("refusal", "unknown") else reason


def _usage(usage: TokenUsage) -> dict[str, Any]:
    given, made = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": given,
        "completion_tokens": made,
        "total_tokens": given + made,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }
