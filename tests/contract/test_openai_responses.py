"""The Responses provider with the real SDK against a real server that misbehaves on purpose.

What all APIs share (keys, statuses, pages, connections, stalls) is held by test_openai_chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    Refuse,
    Reply,
    Say,
    Seen,
    SeenCall,
    Think,
)
from keen_tui.demo.wires import seen
from keen_tui.domain.errors import (
    AuthFailed,
    ProviderError,
    RequestRefused,
    ServerBusy,
    StreamCut,
    StreamStalled,
)
from keen_tui.domain.messages import Message, StepReply, TokenUsage, ToolCall, ToolResult, ToolSpec
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.providers.openai.responses import OpenAIResponses
from keen_tui.providers.wire.provider import Connection, StepRequest
from tests.support import client
from tests.support.client import KEY, reasoning_of, request, step_request, text_of
from tests.support.responses import call, completed, done, event, message, reasoning, stream, text
from tests.support.waiting import LIMIT
from tests.support.wire import assert_valid

client_of = partial(client.client_of, api="openai-responses")
parts_of = partial(client.parts_of, api="openai-responses")
reply_of = partial(client.reply_of, api="openai-responses")

HELLO = Reply([Say("Hello, world. This is more than one delta.")])
CALLING = Reply([Think("Let me see."), Say("Reading."), Call("read_file", {"path": "a.py"})])
READ = ToolSpec(name="read_file", description="Reads.", parameters={"type": "object", "properties": {}})


async def sent_by(step: StepRequest, **options: Any) -> dict[str, Any]:
    """The body of the request that a step makes."""
    async with ModelServer([HELLO]) as server, client_of(server, **options) as provider:
        async for _ in provider.stream_step(step):
            pass
        assert_valid(server.requests)
        return dict(server.requests[0].body)


async def bodies_until_it_works(answers: Sequence[Answer], **options: Any) -> list[dict[str, Any]]:
    """The bodies of all requests that two steps made, the last two answered with a reply."""
    async with ModelServer([*answers, HELLO, HELLO]) as server, client_of(server, **options) as provider:
        for _ in range(2):
            parts = [part async for part in provider.stream_step(request())]
            assert isinstance(parts[-1], StepReply)
        return [dict(sent.body) for sent in server.requests]


async def failure_of(answer: Answer, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await parts_of([answer], **options)
    return caught.value


def refusal(sentence: str) -> HttpAnswer:
    return HttpAnswer(400, {"error": {"message": sentence, "type": "invalid_request_error"}})


# What is sent


async def test_a_request_holds_instructions_conversation_and_tools_and_stores_nothing() -> None:
    async with ModelServer([HELLO]) as server, client_of(server) as provider:
        async for _ in provider.stream_step(request("hi", tools=[READ])):
            pass
        sent = server.requests[0]
    assert sent.path == "/v1/responses"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "instructions": "You are a test.",
        "input": [{"type": "message", "role": "user", "content": "hi"}],
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Reads.",
                "parameters": READ.parameters,
                "strict": False,
            }
        ],
    }


async def test_what_there_is_none_of_is_left_out() -> None:
    async with ModelServer([HELLO]) as server, client_of(server, api_key="") as provider:
        async for _ in provider.stream_step(step_request([], system="")):
            pass
        sent = server.requests[0]
    assert not sent.body.keys() & {"tools", "instructions", "max_output_tokens"}
    assert "authorization" not in sent.headers


async def test_the_effort_is_asked_for() -> None:
    assert (await sent_by(request(), effort="high"))["reasoning"] == {"effort": "high", "summary": "auto"}


async def test_finished_turns_are_plain_messages() -> None:
    conversation = [
        Message(role="user", text="u1", turn=1),
        Message(role="assistant", text="a1", turn=1),
        Message(role="user", text="u2", turn=2),
    ]
    body = await sent_by(step_request(conversation))
    assert [(item["role"], item["content"]) for item in body["input"]] == [
        ("user", "u1"),
        ("assistant", "a1"),
        ("user", "u2"),
    ]


async def test_lone_surrogates_and_nul_can_be_sent() -> None:
    assert (await sent_by(request("a\ud800b\0c")))["input"][0]["content"] == "a\ufffdb\0c"
    async with client_of("http://localhost:1") as provider:
        (output,) = provider.tool_results(
            [(ToolCall(id="1", name="a", arguments={}), ToolResult(text="\udc00"))]
        )
    assert output["output"] == "\ufffd"


# The trace


async def test_the_next_step_carries_the_items_unmodified_with_their_results() -> None:
    items = [
        reasoning("why") | {"status": "completed", "content": []},
        message("Reading.") | {"phase": "commentary"},
        call("read_file", '{ "path": "a" }'),
    ]
    first = stream(*(done(item, index) for index, item in enumerate(items)), completed())
    async with ModelServer([first, HELLO]) as server, client_of(server) as provider:
        reply = [part async for part in provider.stream_step(request())][-1]
        assert isinstance(reply, StepReply)
        results = provider.tool_results([(each, ToolResult(text="its text")) for each in reply.tool_calls])
        trace = PendingTrace(1, (*reply.native, *results))
        async for _ in provider.stream_step(request(traces=[trace])):
            pass
        assert_valid(server.requests)
        (_, *sent) = server.requests[1].body["input"]
    assert sent == [*items, {"type": "function_call_output", "call_id": "call_1", "output": "its text"}]


async def test_the_server_sees_a_step_as_one_assistant_with_its_thoughts() -> None:
    async with ModelServer([CALLING, HELLO]) as server, client_of(server) as provider:
        reply = [part async for part in provider.stream_step(request())][-1]
        assert isinstance(reply, StepReply)
        results = provider.tool_results([(each, ToolResult(text="text")) for each in reply.tool_calls])
        trace = PendingTrace(1, (*reply.native, *results))
        async for _ in provider.stream_step(request(traces=[trace])):
            pass
        assert_valid(server.requests)
        system, user, assistant, tool = seen(server.requests[1])
    assert (system, user) == (Seen("system", "You are a test."), Seen("user", "hi"))
    assert (assistant.text, assistant.calls) == (
        "Reading.",
        (SeenCall("call_1_0", "read_file", {"path": "a.py"}),),
    )
    assert assistant.thought == (reply.native[0],)
    assert reply.native[0]["encrypted_content"]
    assert tool == Seen("tool", "text", call_id="call_1_0")


async def test_a_call_id_that_the_trace_holds_is_not_used_again() -> None:
    output = {"type": "function_call_output", "call_id": "call_1", "output": "text"}
    trace = PendingTrace(1, (call(), output))
    reply = await reply_of([Reply([Call("read_file", id="call_1")])], step=request(traces=[trace]))
    assert reply.tool_calls[0].id != "call_1"


async def test_results_are_rewritten_and_nothing_else() -> None:
    output = {"type": "function_call_output", "call_id": "call_1", "output": "text"}
    async with client_of("http://localhost:1") as provider:
        rewritten = provider.rewrite_results((message("text"), call(), output), str.upper)
    assert rewritten == (message("text"), call(), output | {"output": "TEXT"})


def test_only_its_own_pending_state_is_adopted() -> None:
    provider = OpenAIResponses(Connection(model="m", base_url="http://localhost:1"))
    pending = PendingState(calls=1)
    assert provider.adopt(pending, provider.identity) is pending
    other = Identity(api="openai-responses", base_url="http://localhost:1", model="other")
    assert provider.adopt(pending, other) is None


# Options that not every server takes


@pytest.mark.parametrize(
    ("sentence", "reasoning_left", "include_left"),
    [
        (
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            {"summary": "auto"},
            True,
        ),
        ("Your organization must be verified to generate reasoning summaries.", {"effort": "low"}, True),
        ("Unknown parameter: 'reasoning'.", None, True),
        (
            "Encrypted content is not supported with this model.",
            {"effort": "low", "summary": "auto"},
            False,
        ),
        ("Unknown parameter: 'include'.", {"effort": "low", "summary": "auto"}, False),
    ],
)
async def test_a_refused_option_is_left_out_from_then_on(
    sentence: str, reasoning_left: dict[str, str] | None, include_left: bool
) -> None:
    first, *later = await bodies_until_it_works([refusal(sentence)], effort="low")
    assert first["reasoning"] == {"effort": "low", "summary": "auto"} and "include" in first
    assert [body.get("reasoning") for body in later] == [reasoning_left] * 2
    assert ["include" in body for body in later] == [include_left] * 2


async def test_several_refused_options_are_left_out_one_after_the_other() -> None:
    answers = [
        refusal("reasoning.summary: no"),
        refusal("no encrypted content"),
        refusal("reasoning.effort: no"),
    ]
    bodies = await bodies_until_it_works(answers, effort="low")
    assert len(bodies) == 5
    assert not bodies[-1].keys() & {"reasoning", "include"}


async def test_an_option_is_refused_only_once() -> None:
    answers = [refusal("no reasoning summaries"), refusal("still no reasoning summaries")]
    async with ModelServer(answers) as server, client_of(server) as provider:
        with pytest.raises(RequestRefused, match="still no"):
            async for _ in provider.stream_step(request()):
                pass
        assert len(server.requests) == 2


async def test_a_refusal_that_is_about_no_option_is_told_at_once() -> None:
    async with ModelServer([refusal("The model must be nice.")]) as server, client_of(server) as provider:
        with pytest.raises(RequestRefused, match="nice"):
            async for _ in provider.stream_step(request()):
                pass
        assert len(server.requests) == 1


async def test_a_server_that_looks_for_the_ids_gets_the_items_without_them() -> None:
    reference = reasoning("why", item_id="rs_2") | {"encrypted_content": None}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "text"}
    trace = PendingTrace(1, (reference, reasoning(), message("a"), call(), output))
    missing = "Item with id 'rs_2' not found. Items are not persisted when `store` is set to false."
    answers: list[Answer] = [HttpAnswer(404, {"error": {"message": missing}}), HELLO]
    async with ModelServer(answers) as server, client_of(server) as provider:
        async for _ in provider.stream_step(request(traces=[trace])):
            pass
        assert_valid(server.requests)
        first, second = (sent.body["input"][1:] for sent in server.requests)
    assert first == list(trace.messages)
    assert [item["type"] for item in second] == [
        "reasoning",
        "message",
        "function_call",
        "function_call_output",
    ]
    assert second[0]["encrypted_content"] == "sealed"
    assert not any("id" in item for item in second)


# What is read


async def test_text_reasoning_calls_and_usage_are_read() -> None:
    parts = await parts_of([CALLING])
    reply = parts[-1]
    assert isinstance(reply, StepReply)
    assert (text_of(parts), reasoning_of(parts)) == ("Reading.", "Let me see.")
    assert [(each.name, each.arguments) for each in reply.tool_calls] == [("read_file", {"path": "a.py"})]
    assert reply.stop_reason == "tool_calls"
    assert [item["type"] for item in reply.native] == ["reasoning", "message", "function_call"]
    assert reply.usage == TokenUsage(
        input_tokens=100, output_tokens=20, cached_tokens=0, reasoning_tokens=0, cache_write_tokens=0
    )


async def test_nine_parallel_calls_keep_their_order() -> None:
    reply = await reply_of([Reply([Call(f"tool_{number}", {"n": number}) for number in range(9)])])
    assert [(each.name, each.arguments["n"]) for each in reply.tool_calls] == [
        (f"tool_{number}", number) for number in range(9)
    ]


@pytest.mark.parametrize("ids", [("", ""), ("same", "same")])
async def test_calls_without_ids_of_their_own_get_some(ids: tuple[str, str]) -> None:
    reply = await reply_of([Reply([Call("a", id=ids[0]), Call("b", id=ids[1])])])
    made = [each.id for each in reply.tool_calls]
    assert len(set(made)) == 2 and all(made)
    assert [item["call_id"] for item in reply.native] == made


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply([Refuse("I won't.")]), "refusal"),
        (Reply([Say("So far")], finish="length"), "length"),
        (Reply([Say("So far")], finish="content_filter"), "content_filter"),
        (Reply([Say("All.")], usage=None), "stop"),
    ],
)
async def test_the_stop_reason_is_named(answer: Reply, reason: str) -> None:
    assert (await reply_of([answer])).stop_reason == reason


async def test_a_call_that_the_output_limit_cut_is_not_run() -> None:
    reply = await reply_of([Reply([Call("a", {}), Call("b", '{"x": ')], finish="length")])
    assert [bool(each.problem) for each in reply.tool_calls] == [False, True]
    assert [item["arguments"] for item in reply.native] == ["{}", "{}"]


async def test_the_terminal_event_completes_a_reply_though_the_body_stays_open() -> None:
    answer = stream(text("all"), done(message("all")), completed())
    open_end = type(answer)(answer.body, broken=Break("stall", after_bytes=len(answer.body)))
    async with asyncio.timeout(LIMIT):
        assert (await reply_of([open_end], stall_seconds=600.0)).text == "all"


# What goes wrong


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


async def test_a_body_that_ends_without_the_terminal_event_is_cut() -> None:
    assert type(await failure_of(Reply(HELLO.parts, send_finish=False))) is StreamCut


async def test_silence_for_the_stall_limit_is_a_stall() -> None:
    error = await failure_of(Reply(HELLO.parts, broken=Break("stall", after_deltas=2)), stall_seconds=0.2)
    assert type(error) is StreamStalled


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Reply([Say("half"), Fail("the reason", code=503)]), ServerBusy),
        (Reply([Fail("the reason", type="invalid_request_error")]), RequestRefused),
        (
            stream(event("failed", response={"error": {"code": "server_error", "message": "the reason"}})),
            ServerBusy,
        ),
        (HttpAnswer(401, {"error": {"message": "the reason"}}), AuthFailed),
    ],
)
async def test_a_failure_is_the_providers_sentence(answer: Answer, kind: type[ProviderError]) -> None:
    error = await failure_of(answer)
    assert type(error) is kind and "the reason" in str(error)


async def test_a_key_in_a_failed_response_is_masked() -> None:
    failed = event("failed", response={"error": {"code": "server_error", "message": f"oops {KEY}"}})
    assert KEY not in str(await failure_of(stream(failed)))


# Cost


async def test_a_model_that_does_not_reason_is_not_asked_to() -> None:
    async with ModelServer([Reply([Say("Hi.")])]) as server:
        async with client_of(server, api="openai-responses", reasons=False) as provider:
            assert [part async for part in provider.stream_step(request())]
        assert not server.requests[0].body.keys() & {"reasoning", "include"}
