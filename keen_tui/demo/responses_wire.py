"""The OpenAI Responses API as a server speaks it: scripted replies out, requests in."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec.structs import replace

from keen_tui.demo.chat_wire import said
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
from keen_tui.domain.messages import TokenUsage

ENCRYPTED = "reasoning.encrypted_content"
_ITEM_TYPES: Mapping[type[ReplyPart], str] = {
    Say: "message",
    Refuse: "message",
    Think: "reasoning",
    Call: "function_call",
    Fail: "error",
}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def encode(reply: Reply, body: Mapping[str, Any], number: int) -> list[WireEvent]:
    """The events of the reply to the request `body`, the `number`th of the server."""
    return list(_ResponsesEncoder(reply, body, number).events())


def read(body: Mapping[str, Any]) -> list[Seen]:
    """The items of a request, the system prompt first; those of the assistant that stand together as one."""
    messages = [Seen("system", body["instructions"])] if body.get("instructions") else []
    for item in body.get("input", ()):
        seen = _seen(item)
        if seen.role == "assistant" and messages and messages[-1].role == "assistant":
            messages[-1] = _joined(messages[-1], seen)
        else:
            messages.append(seen)
    return messages


def _seen(item: Mapping[str, Any]) -> Seen:
    match item.get("type", "message"):
        case "function_call_output":
            output, images = said(item["output"])
            return Seen("tool", output, call_id=item["call_id"], images=images)
        case "function_call":
            call = SeenCall(item["call_id"], item["name"], json.loads(item["arguments"]))
            return Seen("assistant", calls=(call,))
        case "reasoning":
            return Seen("assistant", thought=(item,))
    text, images = said(item["content"])
    return Seen(item["role"], text, images=images)


def _joined(first: Seen, second: Seen) -> Seen:
    text = "\n\n".join(filter(None, (first.text, second.text)))
    return replace(first, text=text, calls=first.calls + second.calls, thought=first.thought + second.thought)


class _ResponsesEncoder:
    def __init__(self, reply: Reply, body: Mapping[str, Any], number: int) -> None:
        self._reply = reply
        self._model = str(body.get("model", ""))
        self._encrypts = ENCRYPTED in (body.get("include") or ())
        self._number = number
        self._sequence = 0
        self._calls = 0
        self._output: list[dict[str, Any]] = []

    def events(self) -> Iterator[WireEvent]:
        yield self._event("response.created", {"response": self._response("in_progress")})
        yield self._event("response.in_progress", {"response": self._response("in_progress")})
        groups = list(_groups(self._reply.parts))
        for place, group in enumerate(groups):
            if isinstance(group[0], Fail):
                yield self._error(group[0])
                return
            yield from self._item(group, is_last=place == len(groups) - 1)
        if self._reply.send_finish:
            yield self._terminal()

    def _item(self, group: Sequence[ReplyPart], *, is_last: bool) -> Iterator[WireEvent]:
        """The events of one output item, made of parts of one kind."""
        status = "incomplete" if is_last and self._reply.stop_reason in _INCOMPLETE else "completed"
        match group[0]:
            case Call() as call:
                yield from self._call(call, status)
            case Think():
                yield from self._reasoning(group)
            case _:
                yield from self._message(group, status)

    def _message(self, parts: Sequence[ReplyPart], status: str) -> Iterator[WireEvent]:
        item: dict[str, Any] = {"id": self._id("msg"), "type": "message", "role": "assistant"}
        yield self._added(item | {"status": "in_progress", "content": []})
        content = []
        for place, part in enumerate(parts):
            whole = _content_part(part)
            content.append(whole)
            yield from self._content(item["id"], place, whole)
        yield self._done(item | {"status": status, "content": content})

    def _content(self, item_id: str, place: int, whole: dict[str, Any]) -> Iterator[WireEvent]:
        field = "refusal" if whole["type"] == "refusal" else "text"
        where = {"item_id": item_id, "output_index": len(self._output), "content_index": place}
        name = f"response.{whole['type']}"
        yield self._event("response.content_part.added", where | {"part": whole | {field: ""}})
        for piece in self._pieces(whole[field]):
            yield self._event(f"{name}.delta", where | {"delta": piece}, "delta")
        yield self._event(f"{name}.done", where | {field: whole[field]})
        yield self._event("response.content_part.done", where | {"part": whole})

    def _reasoning(self, parts: Sequence[ReplyPart]) -> Iterator[WireEvent]:
        item: dict[str, Any] = {"id": self._id("rs"), "type": "reasoning"}
        texts = [part.text for part in parts if isinstance(part, Think)]
        yield self._added(item | {"summary": [], "encrypted_content": self._sealed("")})
        for place, text in enumerate(texts):
            yield from self._summary(item["id"], place, text)
        summary = [{"type": "summary_text", "text": text} for text in texts]
        yield self._done(item | {"summary": summary, "encrypted_content": self._sealed("".join(texts))})

    def _summary(self, item_id: str, place: int, text: str) -> Iterator[WireEvent]:
        where = {"item_id": item_id, "output_index": len(self._output), "summary_index": place}
        name = "response.reasoning_summary"
        yield self._event(f"{name}_part.added", where | {"part": {"type": "summary_text", "text": ""}})
        for piece in self._pieces(text):
            yield self._event(f"{name}_text.delta", where | {"delta": piece}, "delta")
        yield self._event(f"{name}_text.done", where | {"text": text})
        yield self._event(f"{name}_part.done", where | {"part": {"type": "summary_text", "text": text}})

    def _call(self, call: Call, status: str) -> Iterator[WireEvent]:
        call_id = f"call_{self._number}_{self._calls}" if call.id is None else call.id
        self._calls += 1
        raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        item = {"id": self._id("fc"), "type": "function_call", "call_id": call_id, "name": call.name}
        yield self._added(item | {"status": "in_progress", "arguments": ""})
        where = {"item_id": item["id"], "output_index": len(self._output)}
        name = "response.function_call_arguments"
        for piece in self._pieces(raw):
            yield self._event(f"{name}.delta", where | {"delta": piece}, "arguments")
        yield self._event(f"{name}.done", where | {"arguments": raw})
        yield self._done(item | {"status": status, "arguments": raw})

    def _terminal(self) -> WireEvent:
        reason = _INCOMPLETE.get(self._reply.stop_reason)
        status = "incomplete" if reason else "completed"
        details = {"reason": reason} if reason else None
        response = self._response(status) | {"incomplete_details": details, "output": self._output}
        if self._reply.usage is not None:
            response["usage"] = _usage(self._reply.usage)
        return self._event(f"response.{status}", {"response": response}, "terminal")

    def _error(self, fail: Fail) -> WireEvent:
        code = fail.type if fail.code is None else str(fail.code)
        return self._event("error", {"code": code, "message": fail.message, "param": None})

    def _added(self, item: Mapping[str, Any]) -> WireEvent:
        return self._event("response.output_item.added", {"output_index": len(self._output), "item": item})

    def _done(self, item: dict[str, Any]) -> WireEvent:
        self._output.append(item)
        return self._event("response.output_item.done", {"output_index": len(self._output) - 1, "item": item})

    def _event(
        self,
        name: str,
        fields: Mapping[str, Any],
        kind: Literal["delta", "arguments", "terminal", "other"] = "other",
    ) -> WireEvent:
        payload = {"type": name, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return WireEvent(sse(payload, name), kind)

    def _response(self, status: str) -> dict[str, Any]:
        return {
            "id": f"resp_{self._number}",
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": self._model,
            "output": [],
            "store": False,
            "usage": None,
        }

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self._number}_{len(self._output)}"

    def _sealed(self, text: str) -> str | None:
        """What stands for encrypted reasoning, where the request asked for it."""
        plain = f"{self._number} {text}".encode(errors="replace")
        return b64encode(plain).decode() if self._encrypts else None

    def _pieces(self, text: str) -> Iterator[str]:
        size = self._reply.delta_size
        return (text[start : start + size] for start in range(0, len(text), size))


def _groups(parts: Sequence[ReplyPart]) -> Iterator[list[ReplyPart]]:
    """The parts that one output item is made of: texts and thoughts that stand together, each call alone."""
    for kind, group in groupby(parts, key=lambda part: _ITEM_TYPES[type(part)]):
        if kind in ("message", "reasoning"):
            yield list(group)
        else:
            yield from ([part] for part in group)


def _content_part(part: ReplyPart) -> dict[str, Any]:
    match part:
        case Refuse(text):
            return {"type": "refusal", "refusal": text}
        case Say(text):
            return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    raise ValueError(f"{type(part).__name__} is no content")


def _usage(usage: TokenUsage) -> dict[str, Any]:
    given, made = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
        },
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": given + made,
    }
