"""Replies in many pieces and with long events: twice the bytes must cost about twice the CPU."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, NamedTuple

from keen_tui.demo.wire_json import sse
from keen_tui.domain.messages import StepReply
from keen_tui.providers.anthropic.assembly import AnthropicAssembly
from keen_tui.providers.openai.chat_assembly import ChatAssembly
from keen_tui.providers.openai.responses_assembly import ResponsesAssembly
from keen_tui.providers.wire.assembly import Assembly
from keen_tui.providers.wire.event_reader import EventReader
from tests.bench.table import Row

MEGABYTE = 1_000_000
ARGUMENTS, FIRST_EVENT = 1 * MEGABYTE, 20 * MEGABYTE
PIECE = 16_384
"""Bytes that a socket returns at once."""
TWICE = 2.2
ROUNDS = 7
"""How often short work is measured; the smallest value counts."""

Payload = Mapping[str, Any]


class Wire(NamedTuple):
    """How an API sends a call in deltas, and a whole text at once."""

    assembly: Callable[[], Assembly]
    opening: tuple[Payload, ...]
    piece: Callable[[str], Payload]
    closing: tuple[Payload, ...]
    text: Callable[[str], Payload]
    end: Payload


def rows() -> Iterator[Row]:
    """Arguments in 1-byte deltas and a first event that is long, on each API."""
    for name, wire in WIRES.items():
        half, whole = _in_turn(_arguments, wire, ARGUMENTS)
        yield _compared(f"1 MB of arguments in 1-byte deltas, {name}", half, whole)
    for name, (half, whole) in _first_events().items():
        yield _compared(f"a first event of 20 MB, {name}", half, whole)


def _in_turn(body: Callable[[Wire, int], Iterator[bytes]], wire: Wire, size: int) -> tuple[float, float]:
    """CPU seconds for half the size and for the whole, read in many alternating steps, one of the half after
    two of the whole, so that other programs on the machine affect both equally."""
    half, whole = Reading(wire, body(wire, size // 2)), Reading(wire, body(wire, size))

    async def read() -> None:
        while not (half.is_over and whole.is_over):
            for reading in (whole, half, whole):
                await reading.step()

    asyncio.run(read())
    assert half.size() * 2 == whole.size() == size
    return half.cpu, whole.cpu


def _first_events() -> dict[str, tuple[float, float]]:
    """CPU seconds of a first event of half the size and of the whole, by API. Measured in a process that
    keeps freed memory; otherwise most of the time would go into new memory pages."""
    keeping = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}
    done = subprocess.run(
        (sys.executable, "-m", __name__), env=os.environ | keeping, stdout=subprocess.PIPE, check=True
    )
    found: dict[str, tuple[float, float]] = json.loads(done.stdout)
    return found


def _measured_first_events() -> dict[str, tuple[float, float]]:
    found = {}
    for name, wire in WIRES.items():
        if name != REPEATED:
            costs = [_in_turn(_first_event, wire, FIRST_EVENT) for _ in range(ROUNDS)]
            found[name] = min(half for half, _ in costs), min(whole for _, whole in costs)
    return found


def _compared(what: str, half: float, whole: float) -> Row:
    return Row(what=what, value=whole, unit="s CPU", reference=half, against="half of it", budget=TWICE)


class Reading:
    """A reply that is read step by step. `cpu` is the time so far in seconds."""

    def __init__(self, wire: Wire, body: Iterator[bytes]) -> None:
        self.cpu = 0.0
        self.is_over = False
        self._assembly = wire.assembly()
        self._reader = EventReader(_pieces(body), "text/event-stream", "bench")
        self._reply: StepReply | None = None

    async def step(self) -> None:
        """Read the next piece that has whole events, or the end."""
        if self.is_over:
            return
        before = time.process_time()
        events = await self._reader.read(600)
        for event in events or ():
            self._assembly.take(event)
        if events is None:
            self._reply, self.is_over = self._assembly.finish(), True
        self.cpu += time.process_time() - before

    def size(self) -> int:
        """Characters that were read."""
        assert self._reply
        calls = self._reply.tool_calls
        return len(calls[0].arguments["content"]) if calls else len(self._reply.text)


async def _pieces(body: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in body:
        yield piece


def _arguments(wire: Wire, size: int) -> Iterator[bytes]:
    """A call whose arguments have so many extra characters, each in its own delta."""
    one = _encoded(wire.piece("x"))
    many = PIECE // len(one)
    yield b"".join(map(_encoded, (*wire.opening, wire.piece('{"content": "'))))
    for _ in range(size // many):
        yield one * many
    closing = b"".join(map(_encoded, (wire.piece('"}'), *wire.closing, wire.end)))
    yield one * (size % many) + closing


def _first_event(wire: Wire, size: int) -> Iterator[bytes]:
    """A text of so many characters, all in one event."""
    whole = _encoded(wire.text("x" * size)) + _encoded(wire.end)
    return iter([whole[start : start + PIECE] for start in range(0, len(whole), PIECE)])


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


if __name__ == "__main__":
    print(json.dumps(_measured_first_events()))
