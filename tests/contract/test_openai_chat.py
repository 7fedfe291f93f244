"""The Chat Completions provider with the real SDK against a real server that misbehaves on purpose."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    NoAnswer,
    RawStream,
    Refuse,
    Reply,
    Say,
    Think,
)
from keen_tui.errors import (
    AuthFailed,
    ConnectionFailed,
    ContextExceeded,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
    ServerBusy,
    StreamCut,
    StreamStalled,
)
from keen_tui.memory.pending import PendingTrace
from keen_tui.messages import StepReply, TokenUsage, ToolCall, ToolResult, ToolSpec
from keen_tui.providers.base import StepPart, StepText
from keen_tui.providers.reported import stream_error
from keen_tui.providers.sdk_errors import MESSAGE_LIMIT, ErrorTranslator
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

HELLO = Reply([Say("Hello, world. This is more than one delta.")])
CALLING = Reply([Think("Let me see."), Say("Reading."), Call("read_file", {"path": "a.py"})])
READ = ToolSpec(name="read_file", description="Reads.", parameters={"type": "object", "properties": {}})


async def failure_of(answer: Answer, **options: Any) -> ProviderError:
    """The error of one call; no more than one request was made, and no key is anywhere in it."""
    async with ModelServer([answer]) as server:
        error = await failure_at(server, **options)
        assert len(server.requests) == 1
        return error


async def failure_at(server: ModelServer | str, **options: Any) -> ProviderError:
    async with client_of(server, **options) as provider:
        with pytest.raises(ProviderError) as caught:
            async for _ in provider.stream_step(request()):
                pass
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


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


async def test_no_tools_and_no_key_are_left_out() -> None:
    async with ModelServer([HELLO]) as server, client_of(server, api_key="") as provider:
        async for _ in provider.stream_step(request()):
            pass
        sent = server.requests[0]
    assert "tools" not in sent.body
    assert "authorization" not in sent.headers


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


# What goes wrong in the stream


BREAKS = [
    Break("end", after_bytes=0),
    Break("end", after_deltas=2),
    Break("end", in_arguments=True),
    Break("end"),
    Break("close", after_deltas=2),
    Break("close", in_arguments=True),
    Break("close"),
    Break("reset", after_bytes=0),
    Break("reset", after_deltas=2),
    Break("reset", in_arguments=True),
    Break("reset"),
]


@pytest.mark.parametrize("broken", BREAKS, ids=repr)
async def test_a_reply_without_its_end_is_cut(broken: Break) -> None:
    error = await failure_of(Reply(CALLING.parts, broken=broken))
    assert type(error) is StreamCut and error.retryable


async def test_the_text_before_a_reset_was_streamed() -> None:
    seen: list[StepPart] = []
    async with (
        ModelServer([Reply(HELLO.parts, broken=Break("reset"))]) as server,
        client_of(server) as provider,
    ):
        with pytest.raises(StreamCut):
            async for part in provider.stream_step(request()):
                seen.append(part)
    assert text_of(seen) == "Hello, world. This is more than one delta."


async def test_silence_for_the_stall_limit_is_a_stall() -> None:
    for answer in (NoAnswer("stall"), Reply(HELLO.parts, broken=Break("stall", after_deltas=2))):
        error = await failure_of(answer, stall_seconds=0.2)
        assert type(error) is StreamStalled and "0.2 s" in str(error)


async def test_silence_after_the_finish_reason_is_no_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keen_tui.providers.http_provider.AFTER_FINISH", 0.1)
    finished = b"data: " + json.dumps(delta("stop", content="all")).encode() + b"\n\n"
    answer = RawStream(finished, broken=Break("stall", after_bytes=len(finished)))
    async with asyncio.timeout(15):
        reply = await reply_of([answer], stall_seconds=600.0)
    assert reply.text == "all"


async def test_what_fails_after_the_finish_reason_spoils_nothing() -> None:
    finished = b"data: " + json.dumps(delta("stop", content="all")).encode() + b"\n\n"
    for rubbish in (b"data: {half\n\n", b'data: {"error": {"message": "no usage today"}}\n\n'):
        assert (await reply_of([RawStream(finished + rubbish)])).text == "all"


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_connection_lost_before_the_reply_failed_to_connect(how: Any) -> None:
    error = await failure_of(NoAnswer(how))
    assert type(error) is ConnectionFailed and "127.0.0.1:" in str(error)


async def test_an_error_object_in_the_stream_is_the_providers_sentence() -> None:
    busy = await failure_of(Reply([Say("half"), Fail("The engine is overloaded", code=503)]))
    assert type(busy) is ServerBusy and "The engine is overloaded" in str(busy)
    final = await failure_of(Reply([Fail("No such tool", type="invalid_request_error")]))
    assert type(final) is RequestRefused and "No such tool" in str(final)


async def test_an_error_event_is_an_error_whatever_its_shape() -> None:
    error = await failure_of(RawStream(b'event: error\ndata: {"message": "worn out"}\n\n'))
    assert type(error) is ServerBusy and "worn out" in str(error)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (HttpAnswer(200, "<!doctype html><h1>Log in</h1>"), "a page"),
        (HttpAnswer(200, {"id": "1", "choices": []}), "one JSON document"),
        (HttpAnswer(200, "all is well"), "no stream"),
        (RawStream(b"data: {broken\n\n"), "no JSON"),
    ],
)
async def test_an_answer_that_is_no_stream_is_unreadable_in_one_sentence(answer: Answer, words: str) -> None:
    error = await failure_of(answer)
    assert type(error) is ReplyUnreadable and words in str(error)
    assert "<" not in str(error) and len(str(error)) < 120


async def test_an_error_document_with_status_200_is_that_error() -> None:
    error = await failure_of(HttpAnswer(200, {"error": {"message": "no credit", "code": 402}}))
    assert type(error) is RequestRefused and "no credit" in str(error)


# What the server refuses


def refused(status: int, message: str = "the reason", **fields: Any) -> HttpAnswer:
    headers = fields.pop("headers", {})
    return HttpAnswer(status, {"error": {"message": message, **fields}}, headers)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused(400), RequestRefused),
        (refused(404), RequestRefused),
        (refused(422), RequestRefused),
        (refused(429, code="insufficient_quota"), RequestRefused),
        (refused(400, code="context_length_exceeded"), ContextExceeded),
        (refused(413), ContextExceeded),
        (refused(408), ServerBusy),
        (refused(409), ServerBusy),
        (refused(500), ServerBusy),
        (refused(529), ServerBusy),
    ],
)
async def test_a_status_is_told_with_the_providers_sentence(
    answer: HttpAnswer, kind: type[ProviderError]
) -> None:
    error = await failure_of(answer)
    assert type(error) is kind and "the reason" in str(error)


async def test_retry_after_is_handed_on() -> None:
    error = await failure_of(refused(429, headers={"Retry-After": "7"}))
    assert type(error) is ServerBusy and error.retry_after == 7


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_source_and_never_shown(status: int) -> None:
    error = await failure_of(refused(status, f"Incorrect API key: {KEY}; also sk-proj-abcdefghijkl"))
    assert type(error) is AuthFailed
    assert "TEST_KEY" in str(error)
    assert KEY not in str(error) and "abcdefghijkl" not in str(error)


async def test_a_key_that_the_server_echoes_is_masked_in_every_error() -> None:
    plain = "correcthorsebattery"
    for key in (KEY, plain):
        for answer in (refused(500, f"oops {key}"), Reply([Fail(f"oops {key}")]), HttpAnswer(502, key)):
            assert key not in str(await failure_of(answer, api_key=key))
    for filling in range(350, 420):
        error = stream_error({"error": "x" * filling + plain}, "server")
        assert "corre" not in str(translator(plain).translated(error, in_body=True))


def translator(key: str) -> ErrorTranslator:
    return ErrorTranslator(
        server="server", address="server:443", key_source="TEST_KEY", key=key, stall_seconds=1.0
    )


async def test_a_long_message_is_cut() -> None:
    assert len(str(await failure_of(refused(500, "word " * 2000)))) <= MESSAGE_LIMIT + 1


async def test_a_key_with_a_line_break_inside_is_refused_before_anything_is_sent() -> None:
    async with ModelServer([]) as server:
        error = await failure_at(server, api_key="sk-one\nsk-two")
        assert type(error) is AuthFailed and "TEST_KEY" in str(error)
        assert not server.requests


async def test_an_error_page_is_not_dumped() -> None:
    error = await failure_of(HttpAnswer(502, "<html><body>nginx</body></html>"))
    assert type(error) is ServerBusy and "502" in str(error) and "nginx" not in str(error)


async def test_a_redirect_is_not_followed_and_names_its_target() -> None:
    async with ModelServer([HELLO]) as other:
        target = other.base_url.replace("127.0.0.1", "localhost") + "/chat/completions"
        error = await failure_of(HttpAnswer(307, "", {"location": target}))
        assert not other.requests
    assert type(error) is RequestRefused and target in str(error)


# What can't be reached


async def test_a_refused_connection_names_host_and_port(unused_tcp_port: int) -> None:
    error = await failure_at(f"http://127.0.0.1:{unused_tcp_port}/v1")
    assert type(error) is ConnectionFailed
    assert f"127.0.0.1:{unused_tcp_port}" in str(error) and "refused" in str(error)


async def test_an_unknown_name_is_told() -> None:
    error = await failure_at("http://no-such-host.invalid/v1")
    assert type(error) is ConnectionFailed and "no-such-host.invalid:80" in str(error)


async def test_a_server_without_tls_is_told() -> None:
    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    plain = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    async with plain:
        port = plain.sockets[0].getsockname()[1]
        error = await failure_at(f"https://127.0.0.1:{port}/v1")
    assert type(error) is ConnectionFailed and "TLS" in str(error)


@pytest.mark.parametrize("base_url", ["localhost:11434", "http://a:b", "ftp://host/v1", "rubbish"])
async def test_a_base_url_that_is_none_is_refused_in_words(base_url: str) -> None:
    error = await failure_at(base_url)
    assert type(error) is RequestRefused and "base URL" in str(error)


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
    async with asyncio.timeout(10):
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
