"""The assembly of a Chat Completions reply, over everything that servers add, repeat or leave out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.errors import (
    AuthFailed,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
    ServerBusy,
    StreamCut,
)
from keen_tui.domain.messages import StepReply, TokenUsage
from keen_tui.providers.openai.chat_assembly import ChatAssembly
from keen_tui.providers.wire.provider import StepReasoning, StepText
from keen_tui.providers.wire.sse import ServerSentEvent
from tests.support.chat import delta, fragment

FINISH = delta("tool_calls")
USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}


def assemble(*chunks: Any, taken: tuple[str, ...] = ()) -> StepReply:
    assembly = ChatAssembly("server", taken)
    for chunk in chunks:
        assembly.feed(chunk)
    return assembly.finish()


def calls_of(*chunks: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for call in assemble(*chunks, FINISH).tool_calls]


TWO = [("a", {"x": 1}), ("b", {"y": 2})]
ONE = [("a", {"x": 1})]


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [
                fragment("", index=0, id="1", name="a"),
                fragment('{"x"', index=0),
                fragment(":1}", index=0),
                fragment('{"y":', index=1, id="2", name="b"),
                fragment("2}", index=1),
            ],
            id="as OpenAI sends them",
        ),
        pytest.param(
            [
                fragment("", index=1, id="2", name="b"),
                fragment("", index=0, id="1", name="a"),
                fragment('{"y":2', index=1),
                fragment('{"x":1', index=0),
                fragment("}", index=1),
                fragment("}", index=0),
            ],
            id="interleaved and out of order",
        ),
        pytest.param(
            [fragment('{"x":1}', id="1", name="a"), fragment('{"y":2}', id="2", name="b")],
            id="no index",
        ),
        pytest.param(
            [
                fragment('{"x":', id="1", name="a"),
                fragment("1}", id="1"),
                fragment('{"y":', id="2", name="b"),
                fragment("2}", id="2"),
            ],
            id="no index, id in every fragment",
        ),
        pytest.param(
            [
                fragment('{"x":', name="a"),
                fragment("1}"),
                fragment('{"y":', name="b"),
                fragment("2}"),
            ],
            id="neither index nor id",
        ),
        pytest.param(
            [
                fragment('{"x":', index=0, id="1", name="a"),
                fragment("1}", index=0),
                fragment('{"y":', index=0, id="2", name="b"),
                fragment("2}", index=0),
            ],
            id="one index reused with another id",
        ),
        pytest.param(
            [
                fragment("", index=0, id="1", name="a"),
                fragment("", index=0, id="2", name="b"),
                fragment('{"x":1}', index=0, id="1"),
                fragment('{"y":2}', index=0, id="2"),
            ],
            id="one index for all, kept apart by id",
        ),
        pytest.param(
            [fragment('{"x":1}', index=0, name="a"), fragment('{"y":2}', index=0, name="b")],
            id="one index for all, no id",
        ),
        pytest.param(
            [
                delta(
                    tool_calls=[
                        {"id": "1", "function": {"name": "a", "arguments": '{"x":1}'}},
                        {"id": "2", "function": {"name": "b", "arguments": {"y": 2}}},
                    ]
                )
            ],
            id="both in one delta, arguments as an object",
        ),
    ],
)
def test_two_calls_come_out_whole_and_in_order(fragments: list[dict[str, Any]]) -> None:
    assert calls_of(*fragments) == TWO


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [
                fragment('{"x"', index=0, id="1", name="a"),
                fragment(":1}", index=0, id="1", name="a"),
                fragment("", index=0, id="1", name="a"),
            ],
            id="id and name in every fragment",
        ),
        pytest.param(
            [fragment('{"x"', index=0, id="1", name="a"), fragment(":1}", index=0, id="other")],
            id="another id in every fragment",
        ),
        pytest.param(
            [fragment('{"x"', index=0, id="1"), fragment(":1}", index=0, name="a")], id="the name comes late"
        ),
        pytest.param(
            [
                fragment('{"x":1}', index=0, id="1", name="a"),
                delta(tool_calls=None),
                delta(tool_calls=[None]),
            ],
            id="null among the calls",
        ),
    ],
)
def test_one_call_stays_one(fragments: list[dict[str, Any]]) -> None:
    assert calls_of(*fragments) == ONE


def test_two_like_calls_without_ids_are_two() -> None:
    same = fragment('{"x":1}', index=0, name="a")
    assert calls_of(same, same) == ONE * 2


@pytest.mark.parametrize("ids", [("", ""), ("old", "old"), ("new", "new"), ("old", "")])
def test_missing_and_repeated_ids_are_minted_anew_in_call_and_trace(ids: tuple[str, str]) -> None:
    fragments = [fragment("{}", index=at, name="a", id=each) for at, each in enumerate(ids)]
    reply = assemble(*fragments, FINISH, taken=("old",))
    made = [call.id for call in reply.tool_calls]
    assert len(set(made)) == 2 and all(made) and "old" not in made
    assert [call["id"] for call in reply.native[0]["tool_calls"]] == made


def test_a_good_id_is_kept() -> None:
    assert assemble(fragment("{}", index=0, id="mine", name="a"), FINISH).tool_calls[0].id == "mine"


@pytest.mark.parametrize("raw", ["", "  ", "{}"])
def test_no_arguments_are_an_empty_object(raw: str) -> None:
    (call,) = assemble(fragment(raw, index=0, name="a"), FINISH).tool_calls
    assert (call.arguments, call.problem) == ({}, None)


@pytest.mark.parametrize(
    "raw",
    [
        '{"x": 1',
        '{"x": 1}}',
        "[1]",
        "null",
        '"text"',
        '{"x": NaN}',
        '{"x": "a\nb"}',
        '{"x": "\\ud800"}',
        "[" * 100_000,
        '{"x": ' + "9" * 5000 + "}",
    ],
)
def test_unusable_arguments_are_a_problem_that_quotes_them_and_an_empty_object_in_the_trace(raw: str) -> None:
    reply = assemble(fragment(raw, index=0, name="a"), FINISH)
    (call,) = reply.tool_calls
    assert call.arguments == {}
    assert call.problem is not None and raw[:50] in call.problem and len(call.problem) < 400
    assert reply.native[0]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_stand_in_the_trace_as_the_server_wrote_them() -> None:
    raw = '{ "x" :1,"y":"\\u00e9\\u0000" }'
    reply = assemble(fragment(raw, index=0, name="a"), FINISH)
    assert reply.native[0]["tool_calls"][0]["function"]["arguments"] == raw
    assert reply.tool_calls[0].arguments == {"x": 1, "y": "é\0"}


def test_vendor_fields_stand_in_the_trace_unmodified() -> None:
    signature = {"google": {"thought_signature": "abc"}}
    call = fragment("{}", index=0, id="1", name="a", extra_content=signature)
    reply = assemble(
        delta(reasoning_content="Let "),
        delta(reasoning_content="me.", extra_content={"kept": 1}),
        call,
        FINISH,
    )
    (message,) = reply.native
    assert message["reasoning_content"] == "Let me."
    assert message["extra_content"] == {"kept": 1}
    assert message["tool_calls"][0]["extra_content"] == signature
    assert message["content"] is None


def test_reasoning_details_are_merged_by_type_and_index() -> None:
    piece = {"type": "reasoning.text", "index": 0, "format": "f"}
    sealed = {"type": "reasoning.encrypted", "index": 0, "data": "xyz"}
    reply = assemble(
        delta(reasoning="a", reasoning_details=[piece | {"text": "a", "signature": ""}]),
        delta(reasoning="b", reasoning_details=[piece | {"text": "b"}]),
        delta(reasoning_details=[piece | {"signature": "sealed"}]),
        delta(reasoning_details=[sealed]),
        delta(reasoning_details=[sealed | {"data": "uvw"}]),
        delta("stop", content="done"),
    )
    assert reply.native[0]["reasoning"] == "ab"
    assert reply.native[0]["reasoning_details"] == [
        piece | {"text": "ab", "signature": "sealed"},
        sealed,
        sealed | {"data": "uvw"},
    ]


def test_reasoning_that_comes_under_two_names_is_shown_once() -> None:
    assert ChatAssembly("s").feed(delta(reasoning="a", reasoning_content="a")) == [StepReasoning("a")]


def test_content_may_be_a_list_of_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = ChatAssembly("s").feed(delta(content=[thinking, {"type": "text", "text": "yes"}]))
    assert parts == [StepReasoning("hm"), StepText("yes")]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("something_new", "unknown"),
    ],
)
def test_a_finish_reason_means(reason: str, expected: str) -> None:
    assert assemble(delta(reason, content="x")).stop_reason == expected


def test_calls_with_the_finish_reason_stop_are_calls_but_a_limit_stays_a_limit() -> None:
    call = fragment("{}", index=0, id="1", name="a")
    assert assemble(call, delta("stop")).stop_reason == "tool_calls"
    assert assemble(call, delta("length")).stop_reason == "length"


def test_a_refusal_is_shown_and_named() -> None:
    reply = assemble(delta(refusal="I can't"), delta(refusal=" do that."), delta("stop"))
    assert (reply.text, reply.stop_reason) == ("I can't do that.", "refusal")


def test_nothing_after_the_finish_reason_is_added_but_usage() -> None:
    reply = assemble(delta("stop", content="a"), delta(content="a"), delta("length"), USAGE)
    assert (reply.text, reply.stop_reason) == ("a", "stop")
    assert reply.usage == TokenUsage(input_tokens=3, output_tokens=5)


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        ({"error": {"message": "out of memory"}}, "out of memory"),
        (delta("network_error"), "network_error"),
        (fragment("{}", index=0, id="1", name="b"), "more tool calls after its end"),
    ],
)
def test_a_reply_that_the_server_takes_back_behind_its_end_is_called_broken(behind: Any, words: str) -> None:
    said = assemble(delta(content="a"), delta("stop"), behind, USAGE)
    assert (said.text, said.is_cut) == ("a", True)
    assert words in said.stop_word
    called = assemble(fragment("{}", index=0, id="1", name="a"), FINISH, behind)
    assert [call.name for call in called.tool_calls] == ["a"]
    assert called.is_cut, "none of its calls may run"
    assert not assemble(delta("stop", content="a"), delta("tool_calls"), USAGE).is_cut


def test_the_last_usage_counts_and_nonsense_in_it_does_not() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 2}, "completion_tokens_details": None}
    odd = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": -1} | details}
    assert assemble(USAGE, odd).usage == TokenUsage(input_tokens=7, cached_tokens=2)
    assert assemble(delta("stop"), {"choices": [], "usage": None}).usage == TokenUsage()


@pytest.mark.parametrize(
    "chunk", [{}, {"choices": None}, {"choices": [{}]}, [], 7, "x", {"choices": [{"delta": None}]}]
)
def test_chunks_that_say_nothing_are_passed_over_and_complete_nothing(chunk: Any) -> None:
    with pytest.raises(StreamCut):
        assemble(delta(content="half"), chunk)
    assert assemble(chunk, delta("stop", content="whole"), chunk).text == "whole"


def test_without_a_finish_reason_the_closing_usage_or_done_completes() -> None:
    assert assemble(delta(content="a"), USAGE).stop_reason == "unknown"
    assembly = ChatAssembly("s")
    assembly.feed(delta(content="a"))
    assembly.take(ServerSentEvent("[DONE]"))
    assert assembly.finish().text == "a"


def test_running_usage_beside_choices_completes_nothing() -> None:
    with pytest.raises(StreamCut):
        assemble(delta(content="a") | {"usage": {"prompt_tokens": 1}})


@pytest.mark.parametrize(
    "more",
    [
        delta(content="b"),
        delta(reasoning_content="b"),
        delta(refusal="no"),
        fragment("{}", index=0, id="1", name="a"),
    ],
)
def test_a_usage_chunk_completes_nothing_where_more_of_the_reply_follows(more: dict[str, Any]) -> None:
    with pytest.raises(StreamCut):
        assemble(delta(content="a"), USAGE, more)
    assert assemble(delta(content="a"), USAGE, more, USAGE).usage.output_tokens == 5


def test_a_usage_chunk_before_the_reply_completes_nothing() -> None:
    with pytest.raises(StreamCut):
        assemble(USAGE, delta(role="assistant", content=""))


def test_chunks_that_add_nothing_behind_the_usage_leave_the_reply_complete() -> None:
    empty: list[dict[str, Any]] = [delta(), delta(role="assistant", content=""), {"choices": []}]
    for chunk in empty:
        assert assemble(delta(role="assistant", content="a"), USAGE, chunk).text == "a"


def test_a_reply_with_a_usage_chunk_is_complete_but_not_ended() -> None:
    assembly = ChatAssembly("s")
    assembly.feed(delta(content="a"))
    assembly.feed(USAGE)
    assert assembly.complete and not assembly.ended
    assembly.feed(delta("stop"))
    assert assembly.ended


def event_error(data: str, name: str = "") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ChatAssembly("server").take(ServerSentEvent(data, name))
    return caught.value


@pytest.mark.parametrize("wrapped", ['{"error": %s}', '[{"error": %s}]', "%s"])
def test_an_error_event_keeps_its_words_its_class_and_whether_it_is_final(wrapped: str) -> None:
    refused = '{"message": "Failed to call a function.", "type": "invalid_request_error", "code": "failed"}'
    error = event_error(wrapped % refused, "error")
    assert type(error) is RequestRefused and str(error) == "server: Failed to call a function."
    busy = event_error(wrapped % '{"message": "over capacity", "status_code": 503}', "error")
    assert type(busy) is ServerBusy and "over capacity (503)" in str(busy)


def test_an_error_in_a_list_is_an_error_without_the_name_of_its_event_too() -> None:
    error = event_error('[{"error": {"code": 401, "message": "who are you"}}]')
    assert type(error) is AuthFailed and "who are you" in str(error)


def test_an_error_event_that_is_only_text_says_so() -> None:
    assert str(event_error("worn out", "error")) == "server: worn out."


def test_an_unreadable_event_is_quoted_and_may_be_tried_again() -> None:
    error = event_error("upstream:\n out of  memory")
    assert type(error) is ReplyUnreadable and error.retryable
    assert str(error).endswith('"upstream: out of memory".')
    assert len(str(event_error("x" * 10_000))) < 300


@pytest.mark.parametrize(
    ("seed", "text"), [("NaN", "a"), ("1e999", "a"), ("1", "\\ud83d"), ('"\\ud83d"', "a")]
)
def test_an_event_with_odd_numbers_or_half_a_surrogate_pair_is_read(seed: str, text: str) -> None:
    assembly = ChatAssembly("server")
    event = f'{{"seed": {seed}, "choices": [{{"delta": {{"content": "{text}b"}}, "finish_reason": "stop"}}]}}'
    assembly.take(ServerSentEvent(event))
    assert assembly.finish().text.endswith("b")


def test_error_objects_and_finish_reasons_of_failure_are_raised() -> None:
    with pytest.raises(ServerBusy, match="too busy"):
        assemble({"error": {"message": "too busy"}})
    with pytest.raises(AuthFailed, match="no entry"):
        assemble({"object": "error", "message": "no entry", "code": 403})
    with pytest.raises(ServerBusy):
        assemble(delta("error", content="half"))


def test_other_choices_are_ignored() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}]}
    assert assemble(delta(content="a"), second, delta("stop")).text == "a"


def test_half_a_surrogate_pair_waits_for_the_other_half_and_alone_it_is_replaced() -> None:
    reply = assemble(delta(content="\ud83d"), delta(content="\ude00"), delta("stop", content="\ud800"))
    assert reply.text == "😀\ufffd"
    json.dumps(reply.native[0], ensure_ascii=False).encode()


@given(st.text(), st.dictionaries(st.text(), st.text()), st.data())
def test_where_deltas_are_split_makes_no_difference(
    text: str, arguments: dict[str, str], data: st.DataObject
) -> None:
    raw = json.dumps(arguments)

    def split(whole: str) -> list[str]:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
        return [whole[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    reply = assemble(
        *(delta(content=piece) for piece in split(text)),
        fragment(index=0, id="1", name="a"),
        *(fragment(piece, index=0) for piece in split(raw)),
        FINISH,
    )
    assert reply.text == text
    assert reply.tool_calls[0].arguments == arguments
