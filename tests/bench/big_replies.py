"""Replies in many pieces and with long events: twice the bytes must cost about twice the CPU."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, NamedTuple

from keen_tui.demo.wire_json import sse
from keen_tui.providers.anthropic_assembly import AnthropicAssembly
from keen_tui.providers.chat_assembly import ChatAssembly
from keen_tui.providers.event_reader import EventReader
from keen_tui.providers.http_provider import Assembly
from keen_tui.providers.responses_assembly import ResponsesAssembly
from tests.bench.table import Row

MEGABYTE = 1_000_000
ARGUMENTS, FIRST_EVENT = 1 * MEGABYTE, 20 * MEGABYTE
PIECE = 16_384
"""Bytes that a socket gives at once."""
TWICE = 2.2
ROUNDS = 5
"""How often the short ones are measured; the least counts."""

Payload = Mapping[str, Any]


class Wire(NamedTuple):
    """How an API sends a call in deltas, and a text all at once."""

    assembly: Callable[[], Assembly]
    opening: tuple[Payload, ...]
    piece: Callable[[str], Payload]
    closing: tuple[Payload, ...]
    text: Callable[[str], Payload]
    end: Payload


def rows() -> Iterator[Row]:
    """Arguments in 1-byte deltas and a first event that is long, on each API."""
    for name, wire in WIRES.items():
        yield _compared(
            f"1 MB of arguments in 1-byte deltas, {name}",
            _arguments(wire, ARGUMENTS // 2),
            _arguments(wire, ARGUMENTS),
        )
    for name, wire in WIRES.items():
        if name != REPEATED:
            half, whole = FIRST_EVENT // 2, FIRST_EVENT
            costs = [(_first_event(wire, half), _first_event(wire, whole)) for _ in range(ROUNDS)]
            yield _compared(
                f"a first event of 20 MB, {name}",
                min(each for each, _ in costs),
                min(each for _, each in costs),
            )


def _compared(what: str, half: float, whole: float) -> Row:
    return Row(what=what, value=whole, unit="s CPU", reference=half, against="half of it", budget=TWICE)


def _arguments(wire: Wire, size: int) -> float:
    one = _encoded(wire.piece("x"))
    many = PIECE // len(one)
    opening = b"".join(map(_encoded, (*wire.opening, wire.piece('{"content": "'))))
    closing = b"".join(map(_encoded, (wire.piece('"}'), *wire.closing, wire.end)))

    def body() -> Iterator[bytes]:
        yield opening
        for _ in range(size // many):
            yield one * many
        yield one * (size % many) + closing

    cpu, reply = asyncio.run(_read(wire, body()))
    (call,) = reply.tool_calls
    assert call.problem is None and len(call.arguments["content"]) == size
    return cpu


def _first_event(wire: Wire, size: int) -> float:
    whole = _encoded(wire.text("x" * size)) + _encoded(wire.end)
    pieces = [whole[start : start + PIECE] for start in range(0, len(whole), PIECE)]
    cpu, reply = asyncio.run(_read(wire, iter(pieces)))
    assert len(reply.text) == size
    return cpu


async def _read(wire: Wire, body: Iterator[bytes]) -> tuple[float, Any]:
    """CPU seconds of reading the body, and the reply."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in body:
            yield piece

    before = time.process_time()
    reader, assembly = EventReader(pieces(), "text/event-stream", "bench"), wire.assembly()
    while (events := await reader.read(600)) is not None:
        for event in events:
            assembly.take(event)
    reply = assembly.finish()
    return time.process_time() - before, reply


def _encoded(payload: Payload) -> bytes:
    return sse(payload, str(payload.get("type", "")))


def _chat(delta: Payload, finish: str | None = None) -> Payload:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _chat_call(piece: str, **more: str) -> Payload:
    function = {"arguments": piece, **({"name": more["name"]} if "name" in more else {})}
    named = {"id": more["id"]} if "id" in more else {}
    return _chat({"tool_calls": [{"index": 0, **named, "function": function}]})


def _repeated(piece: str) -> Payload:
    return _chat_call(piece, id="1", name="write_file")


def _response(name: str, **fields: Any) -> Payload:
    return {"type": f"response.{name}", "output_index": 0, **fields}


def _anthropic(name: str, **fields: Any) -> Payload:
    return {"type": f"content_block_{name}", "index": 0, **fields}


_ITEM = {"id": "fc", "type": "function_call", "call_id": "1", "name": "write_file", "arguments": ""}
_TOOL_USE = {"type": "tool_use", "id": "1", "name": "write_file", "input": {}}

REPEATED = "Chat Completions with the name in every delta"

WIRES: Mapping[str, Wire] = {
    "Chat Completions": Wire(
        lambda: ChatAssembly("bench"),
        (_repeated(""),),
        _chat_call,
        (),
        lambda text: _chat({"content": text}),
        _chat({}, "stop"),
    ),
    REPEATED: Wire(
        lambda: ChatAssembly("bench"),
        (),
        _repeated,
        (),
        lambda text: _chat({"content": text}),
        _chat({}, "stop"),
    ),
    "Responses": Wire(
        lambda: ResponsesAssembly("bench"),
        (_response("output_item.added", item=_ITEM),),
        lambda piece: _response("function_call_arguments.delta", item_id="fc", delta=piece),
        (_response("output_item.done", item=_ITEM),),
        lambda text: _response("output_text.delta", item_id="msg", content_index=0, delta=text),
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "Messages": Wire(
        lambda: AnthropicAssembly("bench"),
        (_anthropic("start", content_block=_TOOL_USE),),
        lambda piece: _anthropic("delta", delta={"type": "input_json_delta", "partial_json": piece}),
        (),
        lambda text: _anthropic("delta", delta={"type": "text_delta", "text": text}),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
    ),
}
