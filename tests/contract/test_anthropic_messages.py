"""The Anthropic Messages API at the level of the wire: what is sent, and what is read back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, HttpAnswer, RawStream, Reply, Say, Think
from keen_tui.demo.wire_json import sse
from keen_tui.domain.errors import ContextExceeded, ReplyUnreadable, RequestRefused, ServerBusy, StreamCut
from keen_tui.domain.messages import Message, NativeMessage, StepReply, TokenUsage, ToolResult, ToolSpec
from keen_tui.memory.pending import PendingTrace
from keen_tui.providers.anthropic.messages import LONGEST_OUTPUT, OUTPUT_LIMIT, PAUSES
from keen_tui.providers.wire.key_headers import key_headers
from keen_tui.providers.wire.provider import StepPart, StepText
from tests.support.client import KEY, client_of, parts_of, reply_of, request, step_request, text_of
from tests.support.wire import assert_valid

TOOL = ToolSpec(name="bash", description="Run.", parameters={"type": "object", "properties": {}})
HELLO = Reply([Say("Hello.")])
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "full"}}


async def body_of(script: Any = (HELLO,), step: Any = None, **options: Any) -> dict[str, Any]:
    """The body of the newest request of one call."""
    return dict((await server_asked(script, step, **options)).requests[-1].body)


async def server_asked(script: Any = (HELLO,), step: Any = None, **options: Any) -> ModelServer:
    async with ModelServer(script) as server, client_of(server, api="anthropic", **options) as provider:
        async for _ in provider.stream_step(step or request(tools=[TOOL])):
            pass
        return server


def refusal(message: str) -> HttpAnswer:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return HttpAnswer(400, error)


async def test_the_request_says_all_that_the_api_wants() -> None:
    body = await body_of()
    assert body["model"] == "m"
    assert body["max_tokens"] == OUTPUT_LIMIT
    assert body["stream"] is True
    assert body["system"][0]["text"] == "You are a test."
    assert body["tools"] == [{"name": "bash", "description": "Run.", "input_schema": TOOL.parameters}]
    assert "thinking" not in body and "output_config" not in body


async def test_the_key_goes_where_the_server_looks_for_it() -> None:
    own = key_headers("anthropic", "https://api.anthropic.com", KEY)
    assert own == {"authorization": f"Bearer {KEY}"}
    headers = (await server_asked()).requests[0].headers
    assert (headers["authorization"], headers["x-api-key"]) == (f"Bearer {KEY}", KEY)


async def test_without_a_key_none_is_sent_whatever_the_environment_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-environment")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: sk-environment")
    request = (await server_asked(api_key="")).requests[0]
    assert not {"authorization", "x-api-key"} & request.headers.keys()
    assert b"environment" not in request.raw


async def test_a_given_key_is_the_only_one_that_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-environment")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: sk-environment")
    headers = (await server_asked()).requests[0].headers
    assert (headers["authorization"], headers["x-api-key"]) == (f"Bearer {KEY}", KEY)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_the_base_url_may_or_may_not_end_in_v1(suffix: str) -> None:
    async with ModelServer([HELLO]) as server:
        base_url = server.base_url.removesuffix("/v1") + suffix
        async with client_of(base_url, api="anthropic") as provider:
            assert [part async for part in provider.stream_step(request())]
        assert server.requests[0].path == "/v1/messages"


async def test_an_effort_lets_the_model_think_as_it_sees_fit() -> None:
    body = await body_of(effort="high")
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "high"}


async def test_models_that_refuse_it_get_a_budget_and_then_nothing() -> None:
    script: list[Answer] = [
        refusal("output_config.effort: not supported by this model"),
        refusal("adaptive thinking is not supported"),
        HELLO,
        refusal("thinking is not supported by this model"),
        HELLO,
    ]
    async with (
        ModelServer(script) as server,
        client_of(server, api="anthropic", effort="medium", output_limit=20_000) as provider,
    ):
        for _ in range(2):
            assert [part async for part in provider.stream_step(request())]
        third, last = server.requests[2].body, server.requests[-1].body
        assert third["thinking"] == {"type": "enabled", "budget_tokens": 8_192}
        assert "output_config" not in third and "thinking" not in last
        assert_valid(server.requests)


async def test_what_the_sdk_warns_of_reaches_no_screen() -> None:
    """Warnings are errors here: one would end the call."""
    from anthropic.resources.messages import messages as sdk

    assert await body_of(model=next(iter(sdk.DEPRECATED_MODELS)))
    script = [refusal("adaptive thinking is not supported"), HELLO]
    model = sdk.MODELS_TO_WARN_WITH_THINKING_ENABLED[0]
    body = await body_of(script, model=model, effort="high", output_limit=20_000)
    assert body["thinking"]["type"] == "enabled"


async def test_the_output_limit_is_the_models_own_and_learned_where_it_is_not_known() -> None:
    assert (await body_of(output_limit=4_000))["max_tokens"] == 4_000
    assert (await body_of(output_limit=128_000))["max_tokens"] == LONGEST_OUTPUT
    too_much = refusal("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m")
    assert (await body_of([too_much, HELLO]))["max_tokens"] == 4_096


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refusal("prompt is too long: 210000 tokens > 200000 maximum"), ContextExceeded),
        (refusal("input length and `max_tokens` exceed context limit: 9 + 2 > 10"), ContextExceeded),
        (refusal("messages.1: something is wrong"), RequestRefused),
        (
            HttpAnswer(529, {"type": "error", "error": {"type": "overloaded_error", "message": "full"}}),
            ServerBusy,
        ),
        (
            RawStream(sse({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "error")),
            ServerBusy,
        ),
    ],
)
async def test_errors_are_told_apart(answer: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        await parts_of([answer], api="anthropic")


async def step_and_next() -> tuple[StepReply, list[NativeMessage], ModelServer]:
    """A step with thinking and two calls, and the request that carries it back with the results."""
    script = [Reply([Think("I see."), Say("Two."), Call("bash", {"a": 1}), Call("bash", {"b": 2})]), HELLO]
    async with ModelServer(script) as server, client_of(server, api="anthropic") as provider:
        *_, reply = [part async for part in provider.stream_step(request(tools=[TOOL]))]
        assert isinstance(reply, StepReply)
        results = [
            (call, ToolResult(text=f"result {number}")) for number, call in enumerate(reply.tool_calls)
        ]
        trace = PendingTrace(1, (*reply.native, *provider.tool_results(results)))
        conversation = [
            Message(role="user", text="hi", turn=1),
            Message(role="user", text="second", turn=2),
        ]
        step = step_request(conversation, tools=[TOOL], traces=[trace])
        assert [part async for part in provider.stream_step(step)]
        return reply, list(server.requests[-1].body["messages"]), server


async def test_thinking_goes_back_signed_and_unmodified_with_all_results_in_one_message() -> None:
    reply, messages, server = await step_and_next()
    _, assistant, user = messages
    assert assistant == reply.native[0]
    thinking = assistant["content"][0]
    assert (thinking["type"], thinking["thinking"]) == ("thinking", "I see.") and thinking["signature"]
    kinds = [block["type"] for block in user["content"]]
    assert kinds == ["tool_result", "tool_result", "text"], "the user's words come behind the results"
    assert_valid(server.requests)


async def test_the_stable_prefix_is_marked_for_the_cache_and_stays_the_same() -> None:
    _, messages, server = await step_and_next()
    first, second = (request.body for request in server.requests)
    assert first["system"] == second["system"] and first["tools"] == second["tools"]
    assert second["system"][0]["cache_control"] == {"type": "ephemeral"}
    marked = [
        (place, block["type"])
        for place, message in enumerate(messages)
        for block in message["content"]
        if "cache_control" in block
    ]
    assert marked == [(0, "text"), (2, "text")], "the newest, and the one that was the newest before"
    assert first["messages"][0] == messages[0], "what the first request wrote, the second finds"


async def test_a_long_turn_keeps_its_prefix_byte_for_byte_and_the_users_words_marked() -> None:
    script = [Reply([Think(f"Step {n}."), Call("bash", {"n": n})]) for n in range(4)]
    async with ModelServer([*script, HELLO]) as server, client_of(server, api="anthropic") as provider:
        trace: tuple[NativeMessage, ...] = ()
        for _ in range(5):
            step = request("hé", tools=[TOOL], traces=[PendingTrace(1, trace)] if trace else [])
            *_, reply = [part async for part in provider.stream_step(step)]
            assert isinstance(reply, StepReply)
            results = provider.tool_results([(call, ToolResult(text="r")) for call in reply.tool_calls])
            trace = (*trace, *reply.native, *results)
        assert "cache_control" not in json.dumps(trace), "what is kept is not marked"
        assert_valid(server.requests)
    sent = [prefix_of(each.body) for each in server.requests]
    for earlier, later in pairwise(sent):
        assert later.startswith(earlier.removesuffix("]"))
    newest = server.requests[-1].body["messages"]
    assert [place for place, message in enumerate(newest) if marked(message)] == [0, 6, 8]
    assert json.dumps(server.requests[-1].body).count("cache_control") == 4


def prefix_of(body: Mapping[str, Any]) -> str:
    """What the cache compares, in its order; marks are not part of it."""

    def unmarked(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: unmarked(each) for name, each in value.items() if name != "cache_control"}
        return [unmarked(each) for each in value] if isinstance(value, list) else value

    return json.dumps([unmarked(body[name]) for name in ("tools", "system")]) + json.dumps(
        unmarked(body["messages"])
    )


def marked(message: Mapping[str, Any]) -> bool:
    return any("cache_control" in block for block in message["content"])


async def test_sealed_thinking_and_every_signature_go_back_byte_for_byte() -> None:
    thinking = {"type": "thinking", "thinking": 'a\u00e9\n\u2028 \\ "q" 😀', "signature": "Er+/=\u00e9=="}
    sealed = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a+/=="}
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "bash",
        "input": {"a": "é"},
        "caller": {"type": "direct"},
    }
    blocks: list[dict[str, Any]] = [
        thinking,
        sealed,
        call,
        thinking | {"signature": "other"},
        call | {"id": "toolu_2"},
    ]
    async with ModelServer([raw(blocks, "tool_use"), HELLO]) as server:
        async with client_of(server, api="anthropic") as provider:
            *_, reply = [part async for part in provider.stream_step(request())]
            assert isinstance(reply, StepReply)
            results = provider.tool_results([(each, ToolResult(text=" ")) for each in reply.tool_calls])
            step = request(traces=[PendingTrace(1, (*reply.native, *results))])
            assert [part async for part in provider.stream_step(step)]
        assert_valid(server.requests)
    _, assistant, user = server.requests[1].body["messages"]
    assert assistant == {"role": "assistant", "content": blocks}
    assert {block["content"] for block in user["content"]} == {"(empty)"}, "blank text is refused"


async def test_unsigned_thinking_is_left_out_and_its_call_still_has_its_result() -> None:
    unsigned = {"type": "thinking", "thinking": "hm"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}
    reply = await reply_of([raw([unsigned, call], "tool_use")], api="anthropic")
    assert reply.native == ({"role": "assistant", "content": [call]},)


async def test_a_pause_for_the_servers_own_tools_goes_on_where_it_stopped() -> None:
    asked = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    said = {"type": "text", "text": "Found."}
    script = [raw([asked], "pause_turn"), raw([found, said], "end_turn")]
    async with ModelServer(script) as server, client_of(server, api="anthropic") as provider:
        *_, reply = [part async for part in provider.stream_step(request())]
        assert isinstance(reply, StepReply)
        assert server.requests[1].body["messages"][-1] == {"role": "assistant", "content": [asked]}
        assert reply.native == ({"role": "assistant", "content": [asked, found, said]},)


async def test_a_paused_turn_is_continued_and_comes_out_as_one_reply() -> None:
    script: list[Answer] = [paused("One "), paused("two "), Reply([Say("three.")])]
    async with ModelServer(script) as server, client_of(server, api="anthropic") as provider:
        *streamed, reply = [part async for part in provider.stream_step(request())]
        assert isinstance(reply, StepReply)
        assert text_of(streamed) == reply.text == "One two three."
        assert streamed[0] == StepText("One ")
        assert [block["text"] for block in reply.native[0]["content"]] == ["One ", "two ", "three."]
        assert server.requests[1].body["messages"][-1]["role"] == "assistant"


async def test_a_turn_that_is_paused_for_ever_ends() -> None:
    async with ModelServer([paused("x")] * (PAUSES + 1)) as server:
        with pytest.raises(ReplyUnreadable, match="paused"):
            async with client_of(server, api="anthropic") as provider:
                async for _ in provider.stream_step(request()):
                    pass
        assert len(server.requests) == PAUSES + 1


async def test_a_pause_counts_what_was_made_before_it() -> None:
    async with ModelServer([paused("One "), paused("two "), paused("three.", "end_turn")]) as server:
        async with client_of(server, api="anthropic") as provider:
            *_, reply = [part async for part in provider.stream_step(request())]
        assert isinstance(reply, StepReply)
        assert reply.usage == TokenUsage(input_tokens=1, output_tokens=6, reasoning_tokens=3)


def paused(text: str, reason: str = "pause_turn") -> RawStream:
    return raw([{"type": "text", "text": text}], reason)


def raw(blocks: Sequence[Mapping[str, Any]], reason: str) -> RawStream:
    """A reply whose blocks come whole with their start."""
    usage = {"output_tokens": 2, "output_tokens_details": {"thinking_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        *(
            {"type": "content_block_start", "index": index, "content_block": block}
            for index, block in enumerate(blocks)
        ),
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]
    return RawStream(b"".join(sse(event, event["type"]) for event in events))


async def test_usage_counts_all_input_and_tells_what_the_cache_did() -> None:
    usage = TokenUsage(
        input_tokens=100, output_tokens=20, cached_tokens=60, cache_write_tokens=30, reasoning_tokens=5
    )
    assert (await reply_of([replace(HELLO, usage=usage)], api="anthropic")).usage == usage


async def test_a_missing_message_stop_is_no_fault_and_a_missing_stop_reason_is() -> None:
    reply = await reply_of([replace(HELLO, send_done=False)], api="anthropic")
    assert reply.text == "Hello."
    with pytest.raises(StreamCut):
        await parts_of([replace(HELLO, send_finish=False)], api="anthropic")


async def test_results_can_be_rewritten() -> None:
    async with client_of("http://localhost:1", api="anthropic") as provider:
        reply: list[StepPart] = await parts_of([Reply([Call("bash", {})])], api="anthropic")
        step = reply[-1]
        assert isinstance(step, StepReply)
        results = provider.tool_results([(step.tool_calls[0], ToolResult(text="long", is_error=True))])
        (message,) = provider.rewrite_results(results, lambda text: text[:2])
        assert message["content"][0]["content"] == "lo"
        assert message["content"][0]["is_error"] is True
