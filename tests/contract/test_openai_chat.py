"""The Chat Completions provider with the real SDK against a real server that misbehaves on purpose."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import (
    Break,
    Call,
    HttpAnswer,
    NoAnswer,
    RawStream,
    Refuse,
    Reply,
    Say,
    Think,
)
from keen_tui.domain.messages import StepReply, TokenUsage, ToolCall, ToolResult, ToolSpec
from keen_tui.memory.pending import PendingTrace
from keen_tui.providers.wire.provider import StepText
from tests.support.chat import delta, fragment, stream
from tests.support.client import (
    KEY,
    client_of,
    parts_of,
    reasoning_of,
    reply_of,
    request,
    text_of,
)
from tests.support.waiting import LIMIT

HELLO = Reply([Say("Hello, world. This is more than one delta.")])
CALLING = Reply([Think("Let me see."), Say("Reading."), Call("read_file", {"path": "a.py"})])
READ = ToolSpec(name="read_file", description="Reads.", parameters={"type": "object", "properties": {}})


# What is sent


async def test_a_request_holds_system_prompt_conversation_and_tools() -> None:
    async with ModelServer([HELLO]) as server, client_of(server) as provider:
        async for _ in provider.stream_step(request("hi", tools=[READ])):
            pass
        sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "system", "content": "You are a test."}, {"role": "user", "content": "hi"}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "read_file", "description": "Reads.", "parameters": READ.parameters},
            }
        ],
    }


async def test_no_tools_and_no_key_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-environment")
    async with ModelServer([HELLO]) as server, client_of(server, api_key="") as provider:
        async for _ in provider.stream_step(request()):
            pass
        sent = server.requests[0]
    assert "tools" not in sent.body
    assert "authorization" not in sent.headers
    assert b"environment" not in sent.raw


async def test_a_trace_is_sent_back_as_it_came() -> None:
    reasoned = stream(
        delta(reasoning_content="Hm."),
        fragment('{"path": "a"}', index=0, id="1", name="read_file", extra_content={"google": {"sig": "s"}}),
        delta("tool_calls"),
    )
    async with ModelServer([reasoned, HELLO]) as server, client_of(server) as provider:
        reply = [part async for part in provider.stream_step(request())][-1]
        assert isinstance(reply, StepReply)
        results = provider.tool_results([(call, ToolResult(text="text")) for call in reply.tool_calls])
        trace = PendingTrace(1, (*reply.native, *results))
        async for _ in provider.stream_step(request(traces=[trace])):
            pass
        messages = server.requests[1].body["messages"]
    function = {"name": "read_file", "arguments": '{"path": "a"}'}
    call = {"id": "1", "type": "function", "function": function, "extra_content": {"google": {"sig": "s"}}}
    assert messages[2:] == [
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Hm."},
        {"role": "tool", "tool_call_id": "1", "content": "text"},
    ]


async def test_an_id_that_the_trace_holds_is_not_used_again() -> None:
    known = {"id": "call_0", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    trace = PendingTrace(
        1,
        (
            {"role": "assistant", "content": None, "tool_calls": [known]},
            {"role": "tool", "tool_call_id": "call_0", "content": "text"},
        ),
    )
    reply = await reply_of([Reply([Call("read_file", id="call_0")])], step=request(traces=[trace]))
    assert reply.tool_calls[0].id != "call_0"


async def test_lone_surrogates_and_nul_can_be_sent() -> None:
    async with ModelServer([HELLO]) as server, client_of(server) as provider:
        async for _ in provider.stream_step(request("a\ud800b\0c")):
            pass
        assert server.requests[0].body["messages"][1]["content"] == "a\ufffdb\0c"
        call = ToolCall(id="1", name="a", arguments={})
        (message,) = provider.tool_results([(call, ToolResult(text="\udc00"))])
    assert message["content"] == "\ufffd"


async def test_a_server_that_refuses_stream_options_is_asked_without_from_then_on() -> None:
    refusal = HttpAnswer(400, {"error": {"message": "Unrecognized request argument: stream_options"}})
    async with ModelServer([refusal, HELLO, HELLO]) as server, client_of(server) as provider:
        for _ in range(2):
            parts = [part async for part in provider.stream_step(request())]
            assert isinstance(parts[-1], StepReply)
        assert ["stream_options" in sent.body for sent in server.requests] == [True, False, False]


# What is read


async def test_text_reasoning_calls_and_usage_are_read() -> None:
    parts = await parts_of([CALLING])
    reply = parts[-1]
    assert isinstance(reply, StepReply)
    assert (text_of(parts), reasoning_of(parts)) == ("Reading.", "Let me see.")
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("read_file", {"path": "a.py"})]
    assert reply.stop_reason == "tool_calls"
    assert reply.usage == TokenUsage(input_tokens=100, output_tokens=20, cached_tokens=0, reasoning_tokens=0)


async def test_nine_parallel_calls_keep_their_order() -> None:
    reply = await reply_of([Reply([Call(f"tool_{number}", {"n": number}) for number in range(9)])])
    assert [(call.name, call.arguments["n"]) for call in reply.tool_calls] == [
        (f"tool_{number}", number) for number in range(9)
    ]


async def test_a_refusal_is_named() -> None:
    assert (await reply_of([Reply([Refuse("I won't.")])])).stop_reason == "refusal"


async def test_unusable_arguments_are_a_problem_of_that_call_alone() -> None:
    reply = await reply_of([Reply([Call("a", '{"x": '), Call("b", {"y": 1})])])
    assert [bool(call.problem) for call in reply.tool_calls] == [True, False]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Reply(HELLO.parts, send_done=False), id="no [DONE]"),
        pytest.param(Reply(HELLO.parts, usage=None), id="no usage"),
        pytest.param(Reply(HELLO.parts, usage=None, send_done=False), id="finish reason only"),
        pytest.param(Reply(HELLO.parts, send_finish=False), id="no finish reason"),
        pytest.param(Reply(HELLO.parts, send_finish=False, usage=None), id="[DONE] only"),
    ],
)
async def test_any_terminal_event_completes_a_reply(answer: Reply) -> None:
    assert (await reply_of([answer])).text == "Hello, world. This is more than one delta."


async def test_a_stream_in_crlf_with_mark_comments_and_no_last_blank_line_is_read_byte_by_byte() -> None:
    body = b"".join(
        (
            b"\xef\xbb\xbf: hello\r\n\r\nretry: 5\r\n",
            b"data: " + json.dumps(delta("stop", content="é"), ensure_ascii=False).encode() + b"\r\n\r\n",
            b": ping\r\n\r\ndata: [DONE]\r\n",
        )
    )
    assert (await reply_of([RawStream(body, piece=1)])).text == "é"


async def test_connections_are_used_again_or_closed_but_never_pile_up() -> None:
    async with ModelServer([HELLO] * 5) as server, client_of(server) as provider:
        for _ in range(5):
            async for _ in provider.stream_step(request()):
                pass
        await server.wait_until_idle()
        assert (server.open_streams, server.abandoned) == (0, 0)


# Leaving early


async def at_first_text(server: ModelServer, leave: Callable[[asyncio.Task[None]], object]) -> None:
    """Leave a call as soon as its first text was read."""
    reading = asyncio.Event()

    async def read() -> None:
        async with client_of(server) as provider:
            async for part in provider.stream_step(request()):
                if isinstance(part, StepText):
                    reading.set()

    task = asyncio.create_task(read())
    async with asyncio.timeout(LIMIT):
        await reading.wait()
    assert server.open_streams == 1
    leave(task)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_closes_the_stream_on_the_server() -> None:
    async with ModelServer([Reply(HELLO.parts, broken=Break("stall", after_deltas=1))]) as server:
        await at_first_text(server, asyncio.Task.cancel)
        await server.wait_until_idle()
        assert server.abandoned == 1


async def test_cancelling_before_the_first_byte_closes_the_connection() -> None:
    async with ModelServer([NoAnswer("stall")]) as server, client_of(server) as provider:
        step = provider.stream_step(request())
        task = asyncio.ensure_future(anext(step))
        await server.wait_for_requests(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.wait_until_idle()
        assert server.abandoned == 1


async def test_closing_the_iterator_closes_the_stream_on_the_server() -> None:
    async with ModelServer([Reply(HELLO.parts, broken=Break("stall", after_deltas=1))]) as server:
        async with client_of(server) as provider, aclosing(provider.stream_step(request())) as step:
            assert isinstance(await anext(step), StepText)
        await server.wait_until_idle()
        assert server.abandoned == 1


async def test_a_closed_client_can_be_used_again() -> None:
    async with ModelServer([HELLO, HELLO]) as server, client_of(server) as provider:
        for _ in range(2):
            parts = [part async for part in provider.stream_step(request())]
            assert isinstance(parts[-1], StepReply)
            await provider.close()
