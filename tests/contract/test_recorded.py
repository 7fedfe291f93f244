"""Recorded streams of real providers: whole, in pieces, cut anywhere and ended early, in every API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pytest

from keen_tui.demo.script import Break, RawStream
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import StreamCut
from keen_tui.domain.messages import StepReply
from keen_tui.providers.anthropic.assembly import AnthropicAssembly
from keen_tui.providers.openai.chat_assembly import ChatAssembly
from keen_tui.providers.openai.responses_assembly import ResponsesAssembly
from keen_tui.providers.wire.assembly import Assembly
from keen_tui.providers.wire.provider import StepPart, StepReasoning, StepText
from keen_tui.providers.wire.sse import SseDecoder
from tests.support.client import parts_of, reasoning_of, text_of
from tests.support.recorded import Recorded, needs_recorded, recorded_streams

EVERY_BYTE_UP_TO = 5_000
STRIDE = 37


def ends_chat(data: bytes) -> bool:
    if data == b"[DONE]":
        return True
    chunk = json.loads(data)
    choices = chunk["choices"]
    return bool(chunk.get("usage") if not choices else choices[0].get("finish_reason"))


def ends_anthropic(data: bytes) -> bool:
    return bool(json.loads(data).get("delta", {}).get("stop_reason"))


def ends_responses(data: bytes) -> bool:
    return data != b"[DONE]" and json.loads(data)["type"] == "response.completed"


@dataclass(frozen=True)
class Protocol:
    """How one API is read. `ends` tells from an event's data whether the reply is complete with it;
    `stops` are stop reasons as the manifest has them, in our words."""

    api: Api
    assembly: Callable[[], Assembly]
    ends: Callable[[bytes], bool]
    stops: Mapping[str | None, str]


PROTOCOLS = {
    "anthropic-messages": Protocol(
        "anthropic",
        lambda: AnthropicAssembly("server"),
        ends_anthropic,
        {"end_turn": "stop", "tool_use": "tool_calls", "refusal": "refusal"},
    ),
    "openai-chat": Protocol(
        "openai-chat",
        lambda: ChatAssembly("server"),
        ends_chat,
        {"stop": "stop", "tool_calls": "tool_calls", None: "unknown"},
    ),
    "openai-responses": Protocol(
        "openai-responses", lambda: ResponsesAssembly("server"), ends_responses, {"completed": "stop"}
    ),
}

pytestmark = needs_recorded
each_stream = pytest.mark.parametrize(
    "recorded", recorded_streams(PROTOCOLS), ids=lambda recorded: recorded.file
)


def protocol_of(recorded: Recorded) -> Protocol:
    return PROTOCOLS[recorded.protocol]


def assemble(recorded: Recorded, pieces: Iterable[bytes]) -> list[StepPart]:
    """The parts of a body that ends cleanly, without any network."""
    decoder, assembly = SseDecoder(), protocol_of(recorded).assembly()
    parts: list[StepPart] = []
    for piece in pieces:
        for event in decoder.feed(piece):
            parts += assembly.take(event)
    for event in decoder.finish():
        parts += assembly.take(event)
    return [*parts, assembly.finish()]


async def answered_with(recorded: Recorded, answer: RawStream) -> list[StepPart]:
    """The parts that the provider reads when a server answers so."""
    return await parts_of([answer], api=protocol_of(recorded).api)


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
    stop = protocol_of(recorded).stops[recorded.stop_reason]
    assert reply.stop_reason == ("tool_calls" if calls else stop)


def complete_from(recorded: Recorded) -> tuple[int, int]:
    """The bytes after which the reply is complete: from the first line that says so, with its line end, and
    for certain from the end of that event; some servers send its name behind its data."""
    offset, said = 0, 0
    for line in recorded.body.splitlines(keepends=True):
        if said and not line.strip():
            return said, offset
        offset += len(line)
        data = line.removeprefix(b"data: ")
        if data != line and not said and protocol_of(recorded).ends(data.strip()):
            said = offset
    raise AssertionError("no terminal event in the recording")


@each_stream
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_the_assembly_reads_what_was_recorded(recorded: Recorded, size: int) -> None:
    assert_as_recorded(assemble(recorded, in_pieces(recorded.body, size)), recorded)


@each_stream
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_the_provider_reads_what_was_recorded(recorded: Recorded, size: int) -> None:
    assert_as_recorded(await answered_with(recorded, RawStream(recorded.body, piece=size)), recorded)


@each_stream
def test_a_body_that_ends_early_is_complete_only_with_its_terminal_event(recorded: Recorded) -> None:
    body, (said, complete) = recorded.body, complete_from(recorded)
    near = {said - 2, said - 1, complete, complete + 1}
    for cut in sorted({*range(0, len(body), 1 if len(body) <= EVERY_BYTE_UP_TO else STRIDE), *near}):
        if cut < said:
            with pytest.raises(StreamCut):
                assemble(recorded, [body[:cut]])
        elif cut >= complete:
            reply = assemble(recorded, [body[:cut]])[-1]
            assert isinstance(reply, StepReply) and reply.text == recorded.text


@each_stream
async def test_a_stream_that_breaks_before_its_terminal_event_is_cut(recorded: Recorded) -> None:
    said, _ = complete_from(recorded)
    for how in ("end", "close", "reset"):
        for cut in (said // 3, said * 2 // 3, said - 1):
            broken = RawStream(recorded.body, piece=400, broken=Break(how, after_bytes=cut))
            with pytest.raises(StreamCut):
                await answered_with(recorded, broken)


@each_stream
@pytest.mark.parametrize("how", ["end", "close"])
async def test_a_stream_that_breaks_after_its_terminal_event_is_complete(
    recorded: Recorded, how: str
) -> None:
    ending = Break("end" if how == "end" else "close", after_bytes=complete_from(recorded)[1] + 1)
    reply = (await answered_with(recorded, RawStream(recorded.body, broken=ending)))[-1]
    assert isinstance(reply, StepReply) and reply.text == recorded.text
