"""The providers' own web search: offered where it is wanted, kept while the turn runs, dropped after it.

The streams have the shapes of the SDKs' types, and are checked against them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import RawMessageStreamEvent
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from keen_tui.demo.script import Answer, HttpAnswer, RawStream, Reply, Say
from keen_tui.demo.wire_json import sse
from keen_tui.domain.choices import Api
from keen_tui.domain.display import TextDisplay
from keen_tui.domain.events import Notice, TextDelta, TurnDone, TurnIncomplete, Usage, WebSearched
from keen_tui.domain.messages import WebSource
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import ToolBlock, UiState
from keen_tui.providers.wire.provider import StepSearch
from tests.support.agent import Bench, at_work
from tests.support.client import parts_of

Events = Sequence[Mapping[str, Any]]

TOOLS: Mapping[Api, Mapping[str, Any]] = {
    "anthropic": {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
    "openai-responses": {"type": "web_search"},
}
SOURCES = (WebSource(url="https://docs.python.org/3/", title="Python docs"), WebSource(url="https://b.org/"))

QUERY = {"query": "python news"}
ASKED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": QUERY}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "url": source.url,
            "title": source.title,
            "encrypted_content": "sealed",
            "page_age": None,
        }
        for source in SOURCES
    ],
}
CITED = {
    "type": "web_search_result_location",
    "url": SOURCES[0].url,
    "title": SOURCES[0].title,
    "encrypted_index": "sealed",
    "cited_text": "3.14 is out",
}
FAILED = FOUND | {"content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "true"}}
SEARCH_ITEM = {
    "id": "ws_1",
    "type": "web_search_call",
    "status": "completed",
    "action": {
        "type": "search",
        "query": "python news",
        "sources": [{"type": "url", "url": source.url} for source in SOURCES],
    },
}
CALL_ITEM = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "bash",
    "arguments": '{"command": "true"}',
    "status": "completed",
}


def checked(events: Events, kind: Any) -> RawStream:
    """The events as a stream. Their shapes are those of the SDK."""
    for event in events:
        TypeAdapter(kind).validate_python(event, strict=True)
    return RawStream(b"".join(sse(event, event["type"]) for event in events))


def messages_stream(*blocks: Mapping[str, Any], reason: str = "end_turn", searches: int = 1) -> RawStream:
    """A reply of the Messages API, as its server streams these blocks."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    message: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        first, deltas = dict(block), []
        if block["type"] in ("server_tool_use", "tool_use"):
            first["input"] = {}
            raw = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", raw[:5], raw[5:])]
        elif block["type"] == "text":
            first = {"type": "text", "text": ""}
            deltas = [{"type": "citations_delta", "citation": each} for each in block.get("citations") or ()]
            deltas.append({"type": "text_delta", "text": block["text"]})
        events.append({"type": "content_block_start", "index": index, "content_block": first})
        events += ({"type": "content_block_delta", "index": index, "delta": each} for each in deltas)
        events.append({"type": "content_block_stop", "index": index})
    counts = {"web_search_requests": searches, "web_fetch_requests": 0}
    delta = {"stop_reason": reason, "stop_sequence": None}
    end = {"output_tokens": 20, "server_tool_use": counts}
    events += [{"type": "message_delta", "delta": delta, "usage": end}, {"type": "message_stop"}]
    return checked(events, RawMessageStreamEvent)


def responses_stream(*items: Mapping[str, Any]) -> RawStream:
    """A reply of the Responses API, as its server streams these items."""
    response = {
        "id": "resp_1", "object": "response", "created_at": 1.0, "model": "m", "output": [], "tools": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "status": "in_progress",
    }  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "response.created", "response": response}]
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        begun = {**item, "status": "in_progress"}
        if item["type"] == "message":
            begun["content"] = []
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        if item["type"] == "web_search_call":
            steps = ("in_progress", "searching", "completed")
            events += ({"type": f"response.web_search_call.{step}", **place} for step in steps)
        if item["type"] == "message":
            text = item["content"][0]["text"]
            delta = {"type": "response.output_text.delta", "delta": text, "content_index": 0, "logprobs": []}
            events.append({**delta, **place})
        events.append({"type": "response.output_item.done", "output_index": index, "item": dict(item)})
    done = {**response, "status": "completed", "output": [dict(item) for item in items]}
    events.append({"type": "response.completed", "response": done})
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    return checked(numbered, ResponseStreamEvent)


def said(text: str) -> dict[str, Any]:
    """A message item that cites a page."""
    cited = {
        "type": "url_citation",
        "url": SOURCES[0].url,
        "title": "Python docs",
        "start_index": 0,
        "end_index": 2,
    }
    content = [{"type": "output_text", "text": text, "annotations": [cited], "logprobs": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def searching(api: Api, *, calls: bool) -> RawStream:
    """A reply that searched, and then calls bash or answers."""
    if api == "anthropic":
        text = {"type": "text", "text": "3.14 is out.", "citations": [CITED]}
        blocks = (ASKED, FOUND, CALL) if calls else (ASKED, FOUND, text)
        return messages_stream(*blocks, reason="tool_use" if calls else "end_turn")
    return responses_stream(SEARCH_ITEM, CALL_ITEM if calls else said("3.14 is out."))


def kept(api: Api) -> list[Mapping[str, Any]]:
    """The search as the next request of the turn has it."""
    return [ASKED, FOUND] if api == "anthropic" else [SEARCH_ITEM]


def sent(bench: Bench, number: int = -1) -> str:
    return json.dumps(bench.server.requests[number].body, ensure_ascii=False)


async def switched(bench: Bench, api: Api) -> None:
    bench.switch(api, searches=True, model="searching")


both = pytest.mark.parametrize("api", list(TOOLS))


@both
async def test_it_is_offered_only_where_it_is_wanted(api: Api, tmp_path: Path) -> None:
    async with at_work([Reply([Say("a")]), Reply([Say("b")])], tmp_path, api=api) as bench:
        await bench.ask("one")
        assert "web_search" not in sent(bench)
        await switched(bench, api)
        await bench.ask("two")
        assert TOOLS[api] in bench.server.requests[-1].body["tools"]
        assert ("web_search_call.action.sources" in sent(bench)) == (api == "openai-responses")
        assert not bench.log.of(Notice)


@both
async def test_a_search_is_in_the_trace_and_gone_after_the_turn(api: Api, tmp_path: Path) -> None:
    script: list[Answer] = [searching(api, calls=True), searching(api, calls=False), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path, api=api) as bench:
        await switched(bench, api)
        end = await bench.ask("what is new?")
        assert isinstance(end, TurnDone) and end.text == "3.14 is out."
        for block in kept(api):
            assert json.dumps(block, ensure_ascii=False) in sent(bench)
        await bench.ask("sure?")
        assert bench.lines() == ["user: what is new?", "assistant: 3.14 is out.", "user: sure?"]
        assert "sealed" not in sent(bench) and 'web_search_call"' not in sent(bench)
        searches = bench.log.of(WebSearched)
        titled = api == "anthropic"
        sources = SOURCES if titled else tuple(WebSource(url=each.url) for each in SOURCES)
        assert [(each.step, each.query, each.sources, each.problem) for each in searches] == [
            (1, "python news", sources, ""),
            (2, "python news", sources, ""),
        ]
        bench.assert_valid_requests()
        counts = [usage.tokens.web_searches for usage in bench.log.of(Usage)]
        assert counts[:2] == [1, 1] or api == "openai-responses", "which doesn't count them"


@both
async def test_a_cut_keeps_whole_steps_and_a_retry_sends_them(api: Api, tmp_path: Path) -> None:
    second = searching(api, calls=False)
    cut = RawStream(second.body[: second.body.index(b"3.14 is") + 4])
    script: list[Answer] = [searching(api, calls=True), cut, Reply([Say("3.14.")])]
    async with at_work(script, tmp_path, api=api) as bench:
        await switched(bench, api)
        assert isinstance(await bench.ask("what is new?"), TurnIncomplete)
        end = await bench.retry()
        assert isinstance(end, TurnDone) and end.text == "3.14."
        for block in kept(api):
            assert sent(bench).count(json.dumps(block, ensure_ascii=False)) == 1
        bench.assert_valid_requests()


async def test_a_paused_search_goes_on_and_is_one_step(tmp_path: Path) -> None:
    text = {"type": "text", "text": "3.14 is out."}
    script = [messages_stream(ASKED, reason="pause_turn", searches=0), messages_stream(FOUND, text)]
    async with at_work(script, tmp_path, api="anthropic") as bench:
        await switched(bench, "anthropic")
        end = await bench.ask("what is new?")
        assert isinstance(end, TurnDone) and end.text == "3.14 is out."
        [search] = bench.log.of(WebSearched)
        assert (search.query, search.sources) == ("python news", SOURCES)
        [usage] = bench.log.of(Usage)
        assert usage.tokens.web_searches == 1
        assert bench.server.requests[1].body["messages"][-1] == {"role": "assistant", "content": [ASKED]}


async def test_a_pause_in_the_middle_of_a_turn_that_is_cut_is_begun_again(tmp_path: Path) -> None:
    rest = messages_stream(FOUND, {"type": "text", "text": "3.14"})
    cut = RawStream(rest.body[: rest.body.index(b"3.14") + 2])
    paused = messages_stream(ASKED, reason="pause_turn")
    script: list[Answer] = [messages_stream(CALL, reason="tool_use"), paused, cut, paused, rest]
    async with at_work(script, tmp_path, api="anthropic") as bench:
        await switched(bench, "anthropic")
        assert isinstance(await bench.ask("what is new?"), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.server.requests[3].body["messages"] == bench.server.requests[1].body["messages"]


async def test_citations_stay_with_their_text_while_the_turn_runs() -> None:
    cited = {"type": "text", "text": "3.14 is out.", "citations": [CITED]}
    script = [messages_stream(ASKED, FOUND, cited, CALL, reason="tool_use")]
    *streamed, reply = await parts_of(script, api="anthropic", searches=True)
    assert StepSearch("python news", SOURCES) in streamed
    assert reply.native == ({"role": "assistant", "content": [ASKED, FOUND, cited, CALL]},)  # type: ignore[union-attr]


async def test_a_search_that_failed_says_why(tmp_path: Path) -> None:
    script = [messages_stream(ASKED, FAILED, {"type": "text", "text": "No idea."})]
    async with at_work(script, tmp_path, api="anthropic") as bench:
        await switched(bench, "anthropic")
        assert isinstance(await bench.ask("what is new?"), TurnDone)
        [search] = bench.log.of(WebSearched)
        assert (search.sources, search.problem) == ((), "max_uses_exceeded")


async def test_a_search_that_a_limit_cut_off_is_not_sent_back(tmp_path: Path) -> None:
    script: list[Answer] = [messages_stream(CALL, ASKED, reason="max_tokens"), Reply([Say("Ok.")])]
    async with at_work(script, tmp_path, api="anthropic") as bench:
        await switched(bench, "anthropic")
        await bench.ask("what is new?")
        assert "server_tool_use" not in sent(bench)
        bench.assert_valid_requests()


@pytest.mark.parametrize(
    ("action", "query"),
    [
        ({"type": "search", "queries": ["a", "b"], "query": "a"}, "a; b"),
        ({"type": "open_page", "url": "https://a.org/"}, "https://a.org/"),
        ({"type": "find_in_page", "url": "https://a.org/", "pattern": "x"}, "x in https://a.org/"),
    ],
)
async def test_what_was_searched_opened_or_looked_for(action: dict[str, Any], query: str) -> None:
    item = SEARCH_ITEM | {"action": action}
    streamed = await parts_of([responses_stream(item, said("Ok."))], api="openai-responses", searches=True)
    assert streamed[0] == StepSearch(query)


REFUSALS: Mapping[Api, str] = {
    "anthropic": "tools.11.type: Input should be 'custom'",
    "openai-responses": "Tool type 'web_search' is not supported",
}


@both
async def test_a_server_that_refuses_it_is_told_of_once(api: Api, tmp_path: Path) -> None:
    error = {"type": "invalid_request_error", "message": REFUSALS[api]}
    refusal = HttpAnswer(400, {"type": "error", "error": error})
    script: list[Answer] = [refusal, Reply([Say("a")]), Reply([Say("b")])]
    async with at_work(script, tmp_path, api=api) as bench:
        await switched(bench, api)
        assert isinstance(await bench.ask("one"), TurnDone)
        await bench.ask("two")
        assert "web_search" not in sent(bench)
        [notice] = bench.log.of(Notice)
        assert notice.text.startswith("Web search is on, but 127.0.0.1")


@pytest.mark.parametrize(
    "words", ["Unknown include value: 'web_search_call.action.sources'", "No parameter: include"]
)
async def test_a_server_that_names_no_sources_still_searches(words: str, tmp_path: Path) -> None:
    refusal = HttpAnswer(400, {"error": {"type": "invalid_request_error", "message": words}})
    api: Api = "openai-responses"
    async with at_work([refusal, searching(api, calls=False)], tmp_path, api=api) as bench:
        await switched(bench, api)
        assert isinstance(await bench.ask("what is new?"), TurnDone)
        assert TOOLS[api] in bench.server.requests[-1].body["tools"]
        assert "action.sources" not in sent(bench)
        assert not bench.log.of(Notice)


async def test_an_api_without_it_is_told_of_once(tmp_path: Path) -> None:
    async with at_work([Reply([Say("a")]), Reply([Say("b")])], tmp_path) as bench:
        await switched(bench, "openai-chat")
        await bench.ask("one")
        await bench.ask("two")
        assert "web_search" not in sent(bench)
        [notice] = bench.log.of(Notice)
        assert notice.text.startswith("Web search is on, but ")


async def test_what_a_search_says_can_not_drive_the_terminal(tmp_path: Path) -> None:
    hostile = FOUND | {
        "content": [
            {
                "type": "web_search_result",
                "url": "https://a.org/\x1b[2J",
                "title": "x\u202ey\nQuestion: allow?",
                "encrypted_content": "",
                "page_age": None,
            }
        ]
    }
    script = [messages_stream(ASKED, hostile, {"type": "text", "text": "Ok."})]
    async with at_work(script, tmp_path, api="anthropic") as bench:
        await switched(bench, "anthropic")
        await bench.ask("what is new?")
        await bench.log.caught_up()
        state = apply_all(UiState(), bench.log.events, 1.0)
        [block] = [block for block in (*state.past, *state.live) if isinstance(block, ToolBlock)]
        assert block.display == TextDisplay(text="x<U+202E>y Question: allow? https://a.org/")
        assert block.result is not None
        assert (block.name, block.target, block.result.summary) == ("web_search", "python news", "1 page")
        assert [delta.text for delta in bench.log.of(TextDelta)] == ["Ok."]
