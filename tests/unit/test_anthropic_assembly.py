"""A Messages reply from its events: everything servers add, repeat or leave out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.errors import ServerBusy, StreamCut
from keen_tui.domain.messages import StepReply, TokenUsage
from keen_tui.providers.anthropic.assembly import AnthropicAssembly, PausedReply
from keen_tui.providers.wire.provider import StepReasoning, StepText
from keen_tui.providers.wire.sse import ServerSentEvent


def start(index: int | None, **block: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": "content_block_start", **place, "content_block": block}


def delta(index: int | None, kind: str, **fields: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": "content_block_delta", **place, "delta": {"type": f"{kind}_delta", **fields}}


def ended(reason: str = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def text(index: int, words: str) -> list[dict[str, Any]]:
    return [start(index, type="text", text=""), delta(index, "text", text=words)]


def call(index: int | None, id: str, raw: str, **more: Any) -> list[dict[str, Any]]:
    block = start(index, type="tool_use", id=id, name="bash", **{"input": {}} | more)
    return [block, *([delta(index, "input_json", partial_json=raw)] if raw else [])]


def assemble(*events: dict[str, Any], taken: tuple[str, ...] = ()) -> StepReply:
    assembly = AnthropicAssembly("server", taken)
    for event in events:
        assembly.feed(event)
    return assembly.finish()


def content(reply: StepReply) -> list[dict[str, Any]]:
    (message,) = reply.native
    assert message["role"] == "assistant"
    return list(message["content"])


@pytest.mark.parametrize("events", [[], text(0, "half"), [*text(0, "half"), {"type": "message_stop"}]])
def test_without_a_stop_reason_it_is_cut(events: list[dict[str, Any]]) -> None:
    with pytest.raises(StreamCut):
        assemble(*events)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("something_new", "unknown"),
    ],
)
def test_stop_reasons_in_our_words(reason: str, stop: str) -> None:
    assert assemble(*text(0, "x"), ended(reason)).stop_reason == stop


def test_calls_without_the_reason_for_them_are_still_calls() -> None:
    assert assemble(*call(0, "a", "{}"), ended("end_turn")).stop_reason == "tool_calls"


def test_an_index_that_is_used_again_begins_another_block() -> None:
    reply = assemble(*call(0, "a", '{"x": 1}'), *call(0, "b", '{"x": 2}'), ended("tool_use"))
    assert [(each.id, each.arguments) for each in reply.tool_calls] == [("a", {"x": 1}), ("b", {"x": 2})]


def test_blocks_without_an_index_follow_each_other() -> None:
    reply = assemble(*call(None, "a", '{"x": 1}'), *call(None, "b", '{"x": 2}'), ended("tool_use"))
    assert [each.arguments for each in reply.tool_calls] == [{"x": 1}, {"x": 2}]


def test_missing_and_taken_ids_are_minted_anew_in_call_and_trace() -> None:
    reply = assemble(*call(0, "", "{}"), *call(1, "a", "{}"), *call(2, "a", "{}"), ended(), taken=("a",))
    ids = [each.id for each in reply.tool_calls]
    assert len({*ids, "a", ""}) == 5
    assert [block["id"] for block in content(reply)] == ids


def test_a_block_whose_start_is_missing_is_known_by_its_deltas() -> None:
    assert assemble(delta(0, "text", text="whole"), ended()).text == "whole"


def test_arguments_that_come_with_the_start_count() -> None:
    (made,) = assemble(*call(0, "a", "", input={"x": 1}), ended("tool_use")).tool_calls
    assert made.arguments == {"x": 1}


def test_arguments_that_do_not_parse_are_empty_in_the_trace_and_quoted() -> None:
    reply = assemble(*call(0, "a", '{"command": "rm -rf bu'), ended("tool_use"))
    (made,) = reply.tool_calls
    assert made.problem is not None and "rm -rf bu" in made.problem
    assert content(reply)[0]["input"] == {}


def test_thinking_is_kept_signed_and_left_out_unsigned() -> None:
    signed = [
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking", thinking="so"),
        delta(0, "signature", signature="old"),
        delta(0, "signature", signature="sig"),
    ]
    reply = assemble(*signed, *text(1, "yes"), ended())
    assert content(reply)[0] == {"type": "thinking", "thinking": "so", "signature": "sig"}
    unsigned = assemble(*signed[:2], *text(1, "yes"), *call(2, "a", "{}"), ended())
    assert [block["type"] for block in content(unsigned)] == ["text", "tool_use"]


def test_redacted_thinking_is_kept_as_it_came() -> None:
    block = {"type": "redacted_thinking", "data": "xyz"}
    assert content(assemble(start(0, **block), *text(1, "yes"), ended()))[0] == block


SEARCH = {"type": "server_tool_use", "id": "s", "name": "search", "input": {}}


def test_thinking_behind_everything_else_is_left_out() -> None:
    signed = delta(1, "signature_delta", signature="s")
    redacted = start(2, type="redacted_thinking", data="xyz")
    thinking = [start(1, type="thinking", thinking="", signature=""), signed]
    reply = assemble(*call(0, "1", "{}"), *thinking, redacted, ended("tool_use"))
    assert [block["type"] for block in content(reply)] == ["tool_use"]


def test_what_the_servers_own_tools_did_is_kept_as_it_came_and_never_run_here() -> None:
    found = {"type": "search_tool_result", "tool_use_id": "s", "content": [{"any": "thing"}]}
    asked = [start(0, **SEARCH), delta(0, "input_json", partial_json='{"q": "x"}')]
    reply = assemble(*asked, start(1, **found), *text(2, "yes"), ended())
    assert content(reply) == [SEARCH | {"input": {"q": "x"}}, found, {"type": "text", "text": "yes"}]
    assert reply.tool_calls == ()
    half = assemble(*asked[:1], delta(0, "input_json", partial_json='{"q'), *text(2, "yes"), ended())
    assert content(half) == [{"type": "text", "text": "yes"}]


def test_blank_texts_and_blocks_of_unknown_kinds_are_not_sent_back() -> None:
    unknown = start(0, type="compaction", content="all of it")
    reply = assemble(unknown, *text(1, " \n"), *text(2, "yes"), ended())
    assert content(reply) == [{"type": "text", "text": "yes"}]


def test_a_call_in_a_refused_reply_is_none() -> None:
    reply = assemble(*text(0, "I"), *call(1, "a", ""), *call(2, "b", '{"x": 1}'), ended("refusal"))
    assert (reply.stop_reason, reply.tool_calls) == ("refusal", ())
    assert [block["type"] for block in content(reply)] == ["text"]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_call_that_a_limit_cut_off_before_its_arguments_is_not_run(reason: str) -> None:
    (made,) = assemble(*call(0, "a", ""), ended(reason)).tool_calls
    assert made.problem is not None
    (whole,) = assemble(*call(0, "a", ""), ended("tool_use")).tool_calls
    assert whole.problem is None


def test_what_is_for_the_eye_comes_at_once() -> None:
    assembly = AnthropicAssembly("server")
    assert assembly.feed(start(0, type="thinking", thinking="a")) == [StepReasoning("a")]
    assert assembly.feed(start(1, type="text", text="b")) == [StepText("b")]
    assert assembly.feed(delta(1, "text", text="\ud83d")) == []
    assert assembly.feed(delta(1, "text", text="\ude00")) == [StepText("😀")]
    assert assembly.feed(delta(1, "citations", citation={})) == []
    assert assembly.feed({"type": "new.thing"}) == []


def test_what_follows_the_stop_reason_changes_nothing() -> None:
    again = [
        {"type": "message_start", "message": {}},
        *text(0, "again"),
        ended("max_tokens", output_tokens=9),
    ]
    reply = assemble(*text(0, "once"), ended(output_tokens=5), *again[:-1])
    assert (reply.text, reply.stop_reason, reply.usage.output_tokens) == ("once", "stop", 5)


def test_another_reply_in_the_midst_makes_nothing_of_the_first() -> None:
    begin = {"type": "message_start", "message": {}}
    with pytest.raises(StreamCut, match="another reply"):
        assemble(begin, *text(0, "half"), begin, *text(0, "whole"), ended())


def test_a_beginning_that_is_only_repeated_is_no_other_reply() -> None:
    begin = {"type": "message_start", "message": {}}
    assert assemble(begin, begin, *text(0, "whole"), ended()).text == "whole"


def test_errors_count_until_the_reply_is_complete() -> None:
    error = ServerSentEvent(
        '{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}', "error"
    )
    with pytest.raises(ServerBusy):
        AnthropicAssembly("server").take(error)
    assembly = AnthropicAssembly("server")
    assembly.feed(ended())
    assert assembly.take(error) == ()


def test_usage_counts_all_input_and_ignores_nonsense() -> None:
    begin = {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 10, "cache_read_input_tokens": 60, "output_tokens": 1}},
    }
    usage = assemble(begin, *text(0, "x"), ended(output_tokens=20, cache_creation_input_tokens=-3)).usage
    assert usage == TokenUsage(input_tokens=70, output_tokens=20, cached_tokens=60)
    assert assemble(*text(0, "x"), ended(output_tokens="many")).usage == TokenUsage()
    thought = assemble(*text(0, "x"), ended(output_tokens_details={"thinking_tokens": 4})).usage
    assert thought == TokenUsage(reasoning_tokens=4)


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text()), st.data())
def test_where_deltas_are_split_makes_no_difference(
    thought: str, words: str, arguments: dict[str, str], data: st.DataObject
) -> None:
    def split(whole: str) -> list[str]:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
        return [whole[begin:stop] for begin, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    reply = assemble(
        start(0, type="thinking", thinking="", signature=""),
        *(delta(0, "thinking", thinking=piece) for piece in split(thought)),
        delta(0, "signature", signature="sig"),
        start(1, type="text", text=""),
        *(delta(1, "text", text=piece) for piece in split(words)),
        start(2, type="tool_use", id="a", name="bash", input={}),
        *(delta(2, "input_json", partial_json=piece) for piece in split(json.dumps(arguments))),
        ended("tool_use"),
    )
    assert reply.text == words
    assert reply.tool_calls[0].arguments == arguments
    assert content(reply)[0] == {"type": "thinking", "thinking": thought, "signature": "sig"}


def test_a_pause_is_no_end() -> None:
    assert isinstance(assemble(*text(0, "x"), ended("pause_turn")), PausedReply)
    assert not isinstance(assemble(*text(0, "x"), ended()), PausedReply)
