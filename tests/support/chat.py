"""Hand-made chunks of Chat Completions."""

from __future__ import annotations

from typing import Any

from keen_tui.demo.chat_wire import DONE
from keen_tui.demo.script import RawStream
from keen_tui.demo.wire_json import sse


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def fragment(arguments: str | None = None, *, name: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk with one fragment of a tool call, without the fields that are None."""
    given = {"name": name, "arguments": arguments}
    function = {key: value for key, value in given.items() if value is not None}
    return delta(tool_calls=[fields | {"function": function}])


def stream(*chunks: dict[str, Any], done: bool = True) -> RawStream:
    """The chunks as a stream."""
    return RawStream(b"".join(map(sse, chunks)) + (DONE if done else b""))
