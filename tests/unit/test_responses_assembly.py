"""The assembly of a Responses reply, over everything that servers add, repeat or leave out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.errors import (
    AuthFailed,
    ContextExceeded,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
    ServerBusy,
    StreamCut,
)
from keen_tui.domain.messages import StepReply, TokenUsage
from keen_tui.providers.openai.responses_assembly import ResponsesAssembly
from keen_tui.providers.wire.provider import StreamedPart
from keen_tui.providers.wire.sse import ServerSentEvent
from tests.support.client import reasoning_of, text_of
from tests.support.responses import (
    Payload,
    added,
    arguments,
    call,
    completed,
    done,
    event,
    incomplete,
    message,
    reasoning,
    text,
)

Seen = list[StreamedPart]


def read(*events: Payload, taken: tuple[str, ...] = ()) -> tuple[Seen, StepReply]:
    """What was shown, and the reply."""
    assembly = ResponsesAssembly("server", taken)
    seen: Seen = []
    for payload in events:
        seen += assembly.take(ServerSentEvent(json.dumps(payload), payload.get("type", "")))
    reply = assembly.finish()
    assert text_of(seen) == reply.text.rstrip("\ufffd") or text_of(seen) == reply.text
    return seen, reply


def reply_of(*events: Payload, taken: tuple[str, ...] = ()) -> StepReply:
    return read(*events, taken=taken)[1]


def calls_of(reply: StepReply) -> list[tuple[str, dict[str, Any]]]:
    return [(each.name, dict(each.arguments)) for each in reply.tool_calls]


def types_of(reply: StepReply) -> list[str]:
    return [item["type"] for item in reply.native]


# Calls and where they belong

A = call("a", '{"x":1}', call_id="1", item_id="fc_1")
B = call("b", '{"y":2}', call_id="2", item_id="fc_2")
TWO = [("a", {"x": 1}), ("b", {"y": 2})]


def opened(item: Payload) -> Payload:
    return item | {"arguments": "", "status": "in_progress"}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [
                added(opened(A), 0),
                arguments('{"x"', 0),
                arguments(":1}", 0),
                done(A, 0),
                added(opened(B), 1),
                done(B, 1),
            ],
            id="as OpenAI sends them",
        ),
        pytest.param(
            [added(opened(B), 1), added(opened(A), 0), done(B, 1), done(A, 0)], id="interleaved, out of order"
        ),
        pytest.param([added(opened(A)), added(opened(B)), done(A), done(B)], id="one index for both"),
        pytest.param([done(A, None), done(B, None)], id="no index, nothing but the end"),
        pytest.param([done(A | {"id": ""}), done(B | {"id": ""})], id="one index, no item ids"),
        pytest.param(
            [done(A, 0), done(A, 0), added(opened(A), 0), done(B, 1), done(B, 1)], id="everything twice"
        ),
        pytest.param(
            [
                added(opened(A) | {"id": "other"}, 0),
                arguments('{"x":1}', 0, item_id="yet another"),
                done(A, 0),
                done(B, 1),
            ],
            id="another item id in every event",
        ),
        pytest.param([done(A | {"arguments": {"x": 1}}, 0), done(B, 1)], id="arguments as an object"),
        pytest.param(
            [
                added(opened(A), 0),
                added(opened(B), 1),
                arguments('{"y"', 1),
                arguments('{"x"', 0),
                arguments(":2}", 1),
                arguments(":1}", 0),
                done(A | {"arguments": ""}, 0),
                done(B | {"arguments": None}, 1),
            ],
            id="arguments only as deltas",
        ),
        pytest.param(
            [
                added(opened(A), None),
                arguments('{"x":1}', None, item_id="fc_1"),
                done(A | {"arguments": ""}, None),
                added(opened(B), None),
                event("function_call_arguments.done", arguments='{"y":2}', item_id="fc_2"),
                done(B | {"arguments": ""}, None),
            ],
            id="no index, kept apart by item id",
        ),
    ],
)
def test_two_calls_come_out_whole_and_in_order(events: list[Payload]) -> None:
    reply = reply_of(*events, completed())
    assert calls_of(reply) == TWO
    assert [each.id for each in reply.tool_calls] == ["1", "2"]
    assert reply.stop_reason == "tool_calls"


def test_items_stand_in_the_trace_as_they_came() -> None:
    items = [
        reasoning("why") | {"content": [], "status": "completed", "vendor": {"kept": [1]}},
        message("Text.") | {"phase": "commentary"},
        call(raw='{ "x" :1,"y":"\\u00e9\\u0000" }') | {"vendor": 1},
    ]
    reply = reply_of(*(done(item, index) for index, item in enumerate(items)), completed())
    assert list(reply.native) == items
    assert reply.tool_calls[0].arguments == {"x": 1, "y": "é\0"}


def test_items_whose_beginning_was_left_out_are_what_their_end_says() -> None:
    events = [text("", 0), done(message(""), 0), arguments('{"x":1}', 1), done(A, 1)]
    reply = reply_of(*events, completed())
    assert calls_of(reply) == [("a", {"x": 1})]
    assert types_of(reply) == ["function_call"], "a blank message is left out"


@pytest.mark.parametrize("ids", [("", ""), ("old", "old"), ("new", "new"), ("old", ""), (None, "new")])
def test_missing_and_repeated_call_ids_are_minted_anew_in_call_and_trace(
    ids: tuple[str | None, ...],
) -> None:
    events = [done(call(item_id=f"fc_{at}") | {"call_id": each}, at) for at, each in enumerate(ids)]
    reply = reply_of(*events, completed(), taken=("old",))
    made = [each.id for each in reply.tool_calls]
    assert len(set(made)) == 2 and all(made) and "old" not in made
    assert [item["call_id"] for item in reply.native] == made


@pytest.mark.parametrize("raw", ["", "  ", "{}", None])
def test_no_arguments_are_an_empty_object(raw: str | None) -> None:
    reply = reply_of(done(call(raw=raw)), completed())
    assert (reply.tool_calls[0].arguments, reply.tool_calls[0].problem) == ({}, None)
    assert reply.native[0]["arguments"] == "{}"


@pytest.mark.parametrize("raw", ['{"x": 1', "[1]", "null", '{"x": NaN}', '{"x": "\\ud800"}'])
def test_unusable_arguments_are_a_problem_that_quotes_them_and_an_empty_object_in_the_trace(raw: str) -> None:
    reply = reply_of(done(call(raw=raw)), completed())
    (made,) = reply.tool_calls
    assert made.arguments == {}
    assert made.problem is not None and raw in made.problem
    assert reply.native[0]["arguments"] == "{}"


def test_a_call_that_its_status_or_the_limit_cut_off_is_not_run() -> None:
    cut = call(raw="") | {"status": "incomplete"}
    whole = call(raw='{"x":1}') | {"status": "incomplete"}
    for events in (
        [done(cut), completed()],
        [done(whole), completed()],
        [done(call(raw="")), incomplete("x")],
    ):
        (made,) = reply_of(*events).tool_calls
        assert made.problem and made.arguments == {}


# What is kept


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        ([done(reasoning(), 0), done(call(), 1)], ["reasoning", "function_call"]),
        ([done(call(), 1), done(reasoning(), 0)], ["reasoning", "function_call"]),
        ([done(reasoning(), 0), added(message("b"), 1)], []),
        ([done(message("a"), 0), done(reasoning(), 1)], ["message"]),
        ([done(reasoning(), 0), added(message("b"), 1), done(message("a"), 2)], ["message"]),
        ([added(reasoning(), 0), done(call(), 1)], ["function_call"]),
        (
            [done(reasoning(), 0), added(reasoning(), 0), done(call(), 1)],
            ["reasoning", "function_call"],
        ),
        (
            [done(reasoning(item_id="1"), 0), done(reasoning(item_id="2"), 1), done(call(), 2)],
            ["reasoning", "reasoning", "function_call"],
        ),
        ([done(reasoning(), 0), done(message(" "), 1), done(call(), 2)], ["reasoning", "function_call"]),
        ([done(reasoning(), 0), done(message(""), 1)], []),
        ([done(reasoning(), 0), done({"type": "custom_tool_call", "call_id": "1"}, 1)], []),
        ([done(message(" ") | {"type": 1}, 0), done(call(), 1)], ["function_call"]),
        (
            [done({"type": "web_search_call", "id": "ws_1"}, 0), done(message("a"), 1)],
            ["web_search_call", "message"],
        ),
    ],
)
def test_whole_items_are_kept_and_reasoning_only_before_what_it_led_to(
    events: list[Payload], kept: list[str]
) -> None:
    assert types_of(reply_of(*events, completed())) == kept


def test_items_that_come_only_with_the_end_are_read_from_there() -> None:
    output = [reasoning("why"), message("Text."), call(raw='{"x":1}')]
    seen, reply = read(text("Te", 1), completed(output=output))
    assert (reply.text, reasoning_of(seen), calls_of(reply)) == ("Text.", "why", [("a", {"x": 1})])
    assert list(reply.native) == output


def test_a_call_that_never_ends_is_read_from_the_end_or_breaks_the_reply() -> None:
    begun = [
        event("output_item.added", output_index=1, item=call(raw="")),
        event("function_call_arguments.delta", output_index=1, delta='{"x":1}'),
    ]
    _, reply = read(done(reasoning("why")), *begun, completed(output=[reasoning("why"), call(raw='{"x":1}')]))
    assert calls_of(reply) == [("a", {"x": 1})] and types_of(reply) == ["reasoning", "function_call"]
    for before in ([], [done(reasoning("why"))]):
        with pytest.raises(StreamCut, match="in the middle of a tool call"):
            read(*before, *begun, completed())


# Text


WHOLE_ITEM = done(message("Hello."))
WHOLE_PART = event(
    "content_part.done", output_index=0, content_index=0, part={"type": "output_text", "text": "Hello."}
)
WHOLE_TEXT = event("output_text.done", output_index=0, content_index=0, text="Hello.")


@pytest.mark.parametrize("start", [[], [text("Hel")], [text("Hel"), text("lo.")]])
@pytest.mark.parametrize(
    "end", [[WHOLE_ITEM], [WHOLE_PART], [WHOLE_TEXT], [WHOLE_TEXT, WHOLE_PART, WHOLE_ITEM, WHOLE_ITEM]]
)
def test_text_is_shown_once_whether_it_comes_in_deltas_or_whole(
    start: list[Payload], end: list[Payload]
) -> None:
    assert reply_of(*start, *end, completed(output=[message("Hello.")])).text == "Hello."


def test_a_whole_that_differs_from_its_deltas_changes_nothing() -> None:
    assert reply_of(text("Hi"), WHOLE_TEXT, completed()).text == "Hi"


def test_parts_of_a_message_follow_each_other_and_messages_stand_apart() -> None:
    events = [text("a"), text("b", 0, 1), text("c", 1), done(message("a", "b")), done(message("c"), 1)]
    assert reply_of(*events, completed()).text == "ab\n\nc"


def test_a_refusal_is_shown_and_named() -> None:
    where: Payload = {"output_index": 0, "content_index": 0}
    whole = "I can't do that."
    item = message() | {"content": [{"type": "refusal", "refusal": whole}]}
    reply = reply_of(
        event("refusal.delta", delta="I can't", **where),
        event("refusal.done", refusal=whole, **where),
        done(item),
        completed(),
    )
    assert (reply.text, reply.stop_reason) == (whole, "refusal")
    assert list(reply.native) == [item]


def test_half_a_surrogate_pair_waits_for_the_other_half_and_alone_it_is_replaced() -> None:
    reply = reply_of(text("\ud83d"), text("\ude00"), text("\ud800"), done(message("\ud800")), completed())
    assert reply.text == "😀\ufffd"
    json.dumps(reply.native, ensure_ascii=False).encode()


# Reasoning


def summary(piece: str, part: int = 0, index: int = 0) -> Payload:
    return event("reasoning_summary_text.delta", delta=piece, output_index=index, summary_index=part)


def thought(piece: str) -> Payload:
    return event("reasoning_text.delta", delta=piece, output_index=0, content_index=0)


def test_summary_parts_are_separated_by_a_blank_line() -> None:
    seen, _ = read(
        summary("a"),
        summary("b"),
        summary("c", 1),
        done(reasoning("ab", "c", "d")),
        summary("e", 0, 1),
        completed(),
    )
    assert reasoning_of(seen) == "ab\n\nc\n\nd\n\ne"


def test_reasoning_that_comes_as_text_and_as_summary_is_shown_in_one_form() -> None:
    item = reasoning("short") | {"content": [{"type": "reasoning_text", "text": "at length"}]}
    assert (
        reasoning_of(read(thought("at length"), summary("short"), done(item), completed())[0]) == "at length"
    )
    assert reasoning_of(read(summary("short"), thought("at length"), done(item), completed())[0]) == "short"
    assert reasoning_of(read(done(item), completed())[0]) == "short"


# The end


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (completed(), "stop"),
        (incomplete("max_output_tokens"), "length"),
        (incomplete("content_filter"), "content_filter"),
        (incomplete("something_new"), "unknown"),
        (event("incomplete", response=None), "unknown"),
    ],
)
def test_an_end_means(end: Payload, expected: str) -> None:
    assert reply_of(text("x"), end).stop_reason == expected


def test_a_limit_stays_a_limit_beside_a_call() -> None:
    assert reply_of(done(call()), incomplete("max_output_tokens")).stop_reason == "length"


@pytest.mark.parametrize(
    "events",
    [
        [],
        [text("half")],
        [done(message("whole"))],
        [event("in_progress", response={"status": "completed"})],
        [event("output_text.done", text="x", output_index=0, content_index=0)],
        [done(message("whole")), event("cancelled", response={})],
    ],
)
def test_without_the_end_a_reply_is_cut(events: list[Payload]) -> None:
    with pytest.raises(StreamCut):
        reply_of(*events)


def test_done_alone_ends_nothing() -> None:
    assembly = ResponsesAssembly("server")
    assembly.feed(text("half"))
    assembly.take(ServerSentEvent("[DONE]"))
    assert not assembly.complete
    with pytest.raises(StreamCut):
        assembly.finish()


def failed(**error: Any) -> Payload:
    return event("failed", response={"status": "failed", "error": error or None})


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (failed(code="server_error", message="the reason"), ServerBusy),
        (failed(code="rate_limit_exceeded", message="the reason"), ServerBusy),
        (failed(code="insufficient_quota", message="the reason"), RequestRefused),
        (failed(code="invalid_prompt", message="the reason"), RequestRefused),
        (failed(code="bio_policy", message="the reason"), RequestRefused),
        (failed(code="context_length_exceeded", message="the reason"), ContextExceeded),
        (failed(code="invalid_api_key", message="the reason"), AuthFailed),
        (failed(), ServerBusy),
        ({"type": "error", "code": "server_error", "message": "the reason"}, ServerBusy),
        ({"type": "error", "code": None, "message": "the reason"}, ServerBusy),
        ({"type": "error", "error": {"code": "invalid_api_key", "message": "the reason"}}, AuthFailed),
        ({"error": {"code": 403, "message": "the reason"}}, AuthFailed),
    ],
)
def test_failures_and_errors_are_raised_by_their_code(end: Payload, kind: type[ProviderError]) -> None:
    with pytest.raises(ProviderError) as caught:
        reply_of(text("half"), end)
    assert type(caught.value) is kind
    assert end == failed() or "the reason" in str(caught.value)


def test_nothing_behind_the_end_is_added_or_raised() -> None:
    again = [event("created", response={"id": "2"}), text("a"), done(call(), 3), failed(), completed()]
    reply = reply_of(text("a"), completed(usage={"input_tokens": 1}), *again)
    assert (reply.text, reply.tool_calls, reply.usage.input_tokens) == ("a", (), 1)


def test_another_reply_in_the_midst_of_the_first_is_a_cut_and_a_repeated_beginning_is_not() -> None:
    first, second = (event("created", response={"id": each}) for each in "12")
    assert reply_of(first, second, text("a"), completed()).text == "a"
    assert reply_of(first, text("a"), first, completed()).text == "a"
    with pytest.raises(StreamCut, match="another reply"):
        reply_of(first, text("a"), second, text("a"), completed())


@pytest.mark.parametrize(
    "odd",
    [
        {},
        event("output_text.annotation.added", annotation={}),
        event("something.new"),
        event("output_item.done"),
        event("output_item.added", item=None),
        event("output_item.done", item=[], output_index="x"),
        event("output_item.done", item={"type": "message", "content": [None, 7, {}]}, output_index=7),
        event("output_text.delta"),
        event("output_text.delta", delta=None, output_index=5),
        event("content_part.done", part=None),
        event("content_part.done", part={"type": "output_audio", "text": "x"}, output_index=7),
        event("function_call_arguments.delta", delta=7, output_index=9),
        event("created", response=None),
    ],
)
def test_odd_events_add_nothing_and_complete_nothing(odd: Payload) -> None:
    assert reply_of(odd, text("whole", 4), odd, done(message("whole"), 4), completed(), odd).text == "whole"
    with pytest.raises(StreamCut):
        reply_of(odd)


@pytest.mark.parametrize("data", ["7", "[]", '"x"', "null"])
def test_json_that_is_no_object_is_passed_over(data: str) -> None:
    assert list(ResponsesAssembly("server").take(ServerSentEvent(data))) == []


def test_what_is_no_json_is_unreadable() -> None:
    with pytest.raises(ReplyUnreadable):
        ResponsesAssembly("server").take(ServerSentEvent("{half"))


def test_an_event_may_have_its_type_only_as_its_name() -> None:
    assembly = ResponsesAssembly("server")
    assembly.take(ServerSentEvent('{"delta": "a", "output_index": 0}', "response.output_text.delta"))
    assembly.take(ServerSentEvent('{"response": {}}', "response.completed"))
    assert assembly.finish().text == "a"


# Usage


def test_usage_is_read_with_its_details() -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    assert reply_of(completed(usage=usage)).usage == TokenUsage(
        input_tokens=9, output_tokens=5, cached_tokens=4, reasoning_tokens=3, cache_write_tokens=2
    )


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "x",
        {"input_tokens": -1, "output_tokens": "5"},
        {"input_tokens": True, "input_tokens_details": 3},
    ],
)
def test_nonsense_in_usage_is_unknown(usage: Any) -> None:
    assert reply_of(completed(usage=usage)).usage == TokenUsage()


# Any split


@given(st.text(), st.dictionaries(st.text(), st.text()), st.data())
def test_where_deltas_are_split_makes_no_difference(
    words: str, given_arguments: dict[str, str], data: st.DataObject
) -> None:
    raw = json.dumps(given_arguments)

    def split(whole: str) -> list[str]:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
        return [whole[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    reply = reply_of(
        *(text(piece) for piece in split(words)),
        done(message(words)),
        added(opened(call()), 1),
        *(arguments(piece, 1) for piece in split(raw)),
        done(call(raw=""), 1),
        completed(),
    )
    assert reply.text == words
    assert reply.tool_calls[0].arguments == given_arguments
