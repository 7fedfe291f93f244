"""Hand-made events of the Responses API."""

from __future__ import annotations

from typing import Any

from keen_tui.demo.script import RawStream
from keen_tui.demo.wire_json import sse

Payload = dict[str, Any]


def event(name: str, **fields: Any) -> Payload:
    """The event `response.<name>`."""
    return {"type": f"response.{name}", **fields}


def added(item: Payload, index: int | None = 0) -> Payload:
    return event("output_item.added", item=item, **_at(index))


def done(item: Payload, index: int | None = 0) -> Payload:
    return event("output_item.done", item=item, **_at(index))


def text(piece: str, index: int | None = 0, part: int = 0) -> Payload:
    """A delta of visible text."""
    return event("output_text.delta", delta=piece, content_index=part, **_at(index))


def arguments(piece: str, index: int | None = 0, **fields: Any) -> Payload:
    """A delta of a call's arguments."""
    return event("function_call_arguments.delta", delta=piece, **_at(index), **fields)


def message(*texts: str, item_id: str = "msg_1") -> Payload:
    """A whole message item with one part for each text."""
    content = [{"type": "output_text", "text": each, "annotations": [], "logprobs": []} for each in texts]
    return {
        "id": item_id,
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def call(name: str = "a", raw: Any = "{}", *, call_id: str = "call_1", item_id: str = "fc_1") -> Payload:
    """A whole function call item."""
    return {
        "id": item_id,
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": raw,
        "status": "completed",
    }


def reasoning(*summaries: str, item_id: str = "rs_1") -> Payload:
    """A whole reasoning item."""
    summary = [{"type": "summary_text", "text": each} for each in summaries]
    return {"id": item_id, "type": "reasoning", "summary": summary, "encrypted_content": "sealed"}


def completed(**response: Any) -> Payload:
    return event("completed", response={"status": "completed"} | response)


def incomplete(reason: str) -> Payload:
    return event("incomplete", response={"incomplete_details": {"reason": reason}})


def stream(*payloads: Payload) -> RawStream:
    """The events as a stream."""
    return RawStream(b"".join(sse(payload, payload["type"]) for payload in payloads))


def _at(index: int | None) -> Payload:
    return {} if index is None else {"output_index": index}
