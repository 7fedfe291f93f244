"""Recorded Chat Completions streams: whole, in pieces, cut anywhere and ended early."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from keen_tui.demo.script import Break, RawStream
from keen_tui.errors import StreamCut
from keen_tui.messages import StepReply
from keen_tui.providers.base import StepPart, StepReasoning, StepText
from keen_tui.providers.chat_assembly import ChatAssembly
from keen_tui.providers.sse import SseDecoder
from tests.support.chat import parts_of, reasoning_of, text_of
from tests.support.recorded import Recorded, needs_recorded, recorded_streams

STREAMS = recorded_streams("openai-chat")
EVERY_BYTE_UP_TO = 5_000
STRIDE = 37

pytestmark = needs_recorded
each_stream = pytest.mark.parametrize("recorded", STREAMS, ids=lambda recorded: recorded.file)


def assemble(pieces: Iterable[bytes]) -> list[StepPart]:
    """The parts of a body that ends cleanly, without any network."""
    decoder, assembly = SseDecoder(), ChatAssembly("server")
    parts: list[StepPart] = []

    for piece in pieces:
        for event in decoder.feed(piece):
            parts += assembly.take(event)
    for event in decoder.finish():
        parts += assembly.take(event)
    return [*parts, assembly.finish()]


def in_pieces(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


def assert_as_recorded(parts: list[StepPart], recorded: Recorded) -> None:
    *streamed, reply = parts
    assert isinstance(reply, StepReply)
    assert all(isinstance(part, StepText | StepReasoning) for part in streamed)
    assert text_of(streamed) == reply.text == recorded.text
    assert len(reasoning_of(streamed)) == recorded.thinking_chars
    calls = [{"id": call.id, "name": call.name, "args": call.arguments} for call in reply.tool_calls]
    assert calls == recorded.tool_calls
    assert not any(call.problem for call in reply.tool_calls)
    assert reply.stop_reason == (recorded.stop_reason or "unknown")


def complete_from(body: bytes) -> int:
    """The bytes after which the reply is complete: the first line that says so, with its line end."""
    offset = 0
    for line in body.splitlines(keepends=True):
        offset += len(line)
        if line.startswith(b"data: ") and is_terminal(line.removeprefix(b"data: ").strip()):
            return offset
    raise AssertionError("no terminal event in the recording")


def is_terminal(data: bytes) -> bool:
    if data == b"[DONE]":
        return True
    chunk = json.loads(data)
    choices = chunk["choices"]
    return bool(chunk.get("usage") if not choices else choices[0].get("finish_reason"))


@each_stream
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_the_assembly_reads_what_was_recorded(recorded: Recorded, size: int) -> None:
    assert_as_recorded(assemble(in_pieces(recorded.body, size)), recorded)


@each_stream
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_the_provider_reads_what_was_recorded(recorded: Recorded, size: int) -> None:
    assert_as_recorded(await parts_of([RawStream(recorded.body, piece=size)]), recorded)


@each_stream
def test_a_body_that_ends_early_is_complete_only_with_its_terminal_event(recorded: Recorded) -> None:
    body, complete = recorded.body, complete_from(recorded.body)
    near = {complete - 2, complete - 1, complete, complete + 1}
    for cut in sorted({*range(0, len(body), 1 if len(body) <= EVERY_BYTE_UP_TO else STRIDE), *near}):
        if cut < complete:
            with pytest.raises(StreamCut):
                assemble([body[:cut]])
        else:
            reply = assemble([body[:cut]])[-1]
            assert isinstance(reply, StepReply) and reply.text == recorded.text


@each_stream
async def test_a_stream_that_breaks_before_its_terminal_event_is_cut(recorded: Recorded) -> None:
    complete = complete_from(recorded.body)
    for how in ("end", "close", "reset"):
        for cut in (complete // 3, complete * 2 // 3, complete - 1):
            broken = RawStream(recorded.body, piece=400, broken=Break(how, after_bytes=cut))
            with pytest.raises(StreamCut):
                await parts_of([broken])


@each_stream
@pytest.mark.parametrize("how", ["end", "close"])
async def test_a_stream_that_breaks_after_its_terminal_event_is_complete(
    recorded: Recorded, how: str
) -> None:
    ending = Break("end" if how == "end" else "close", after_bytes=complete_from(recorded.body) + 1)
    reply = (await parts_of([RawStream(recorded.body, broken=ending)]))[-1]
    assert isinstance(reply, StepReply) and reply.text == recorded.text
