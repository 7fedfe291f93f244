"""The words that servers give for the end of a reply, on every API: what is run, told and tried again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import Answer, Call, RawStream, RecordedRequest, Reply, Say
from keen_tui.domain.events import (
    Compacted,
    EndEvent,
    Notice,
    RetryScheduled,
    TextDelta,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from tests.support.agent import AtWork, Bench
from tests.support.faults import COUNT, DONE, encoded, runs

TWO_ATTEMPTS = RetryPolicy(attempts=2, first_delay=0.001)
TEXT = Reply([Say("Half of it")])
CALLING = Reply([Say("I count."), COUNT])

_WHOLE = b'"status":"completed","error":null,"incomplete_details":null'

ByRequest = Callable[[RecordedRequest], Answer]


def ending(reply: Reply, word: str) -> ByRequest:
    """The reply with that word for its end; on Responses it is the reason why the reply is incomplete."""
    reason = word.encode()

    def answer(request: RecordedRequest) -> Answer:
        body = encoded(reply, request)
        for usual in (b"stop", b"tool_calls"):
            body = body.replace(b'"finish_reason":"' + usual + b'"', b'"finish_reason":"' + reason + b'"')
        for usual in (b"end_turn", b"tool_use"):
            body = body.replace(b'"stop_reason":"' + usual + b'"', b'"stop_reason":"' + reason + b'"')
        why = b'"status":"incomplete","error":null,"incomplete_details":{"reason":"' + reason + b'"}'
        return RawStream(body.replace(_WHOLE, why))

    return answer


def with_status(reply: Reply, event: str, response: str) -> ByRequest:
    """A Responses reply that ends with that event, its response beginning with these fields."""

    def answer(request: RecordedRequest) -> Answer:
        body = encoded(reply, request).replace(b"response.completed", b"response." + event.encode())
        return RawStream(body.replace(_WHOLE, response.encode()))

    return answer


def script_of(*answers: Answer | ByRequest) -> ByRequest:
    """The answers in order, then a plain end."""
    left = list(answers)

    def answer(request: RecordedRequest) -> Answer:
        following = left.pop(0) if left else DONE
        return following(request) if callable(following) else following

    return answer


def notices(bench: Bench) -> str:
    return " ".join(event.text for event in bench.log.of(Notice))


def shown(bench: Bench) -> str:
    return "".join(event.text for event in bench.log.of(TextDelta))


def assert_named(bench: Bench, end: EndEvent, says: str) -> None:
    """The turn is done, and never without a word about its end."""
    assert isinstance(end, TurnDone)
    assert says in notices(bench)
    assert not bench.log.of(RetryScheduled)


@pytest.mark.parametrize("word", ["network_error", "error", "abort", "insufficient_system_resource"])
async def test_a_failure_of_the_server_is_tried_again_and_runs_nothing(
    tmp_path: Path, at_work: AtWork, word: str
) -> None:
    for reply in (TEXT, CALLING):
        broken = ending(reply, word)
        async with at_work(script_of(broken, broken, broken, DONE), tmp_path, retries=TWO_ATTEMPTS) as bench:
            end = await bench.ask("go")
            assert isinstance(end, TurnError)
            assert (end.reason, len(bench.log.of(RetryScheduled))) == ("provider", 1)
            assert word in end.detail
            assert isinstance(await bench.retry(), TurnDone)
            assert runs(tmp_path) == ""


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL"])
async def test_a_call_that_the_server_could_not_read_is_asked_for_again(
    tmp_path: Path, at_work: AtWork, word: str
) -> None:
    async with at_work(script_of(ending(CALLING, word), DONE), tmp_path, retries=TWO_ATTEMPTS) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        (again,) = bench.log.of(RetryScheduled)
        assert word in again.detail and "tool call" in again.detail
        assert runs(tmp_path) == ""


@pytest.mark.parametrize(
    "word", ["sensitive", "SAFETY", "content_filter", "content_filter: PROHIBITED_CONTENT", "RECITATION"]
)
async def test_a_filter_is_named_and_no_call_behind_it_is_run(
    tmp_path: Path, at_work: AtWork, word: str
) -> None:
    for reply in (TEXT, CALLING):
        async with at_work(script_of(ending(reply, word)), tmp_path) as bench:
            assert_named(bench, await bench.ask("go"), "content filter")
            assert len(bench.server.requests) == 1
            assert runs(tmp_path) == ""


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("length", "output limit"),
        ("model_length", "output limit"),
        ("max_tokens", "output limit"),
        ("model_context_window_exceeded", "context window"),
    ],
)
async def test_a_limit_is_named_and_runs_only_calls_whose_arguments_are_whole(
    tmp_path: Path, at_work: AtWork, word: str, says: str
) -> None:
    async with at_work(script_of(ending(TEXT, word)), tmp_path) as bench:
        assert_named(bench, await bench.ask("go"), says)
    half = Call("bash", '{"command": "echo half >> counter')
    open_calls = Reply([COUNT, half, Call("bash", "")])
    async with at_work(script_of(ending(open_calls, word)), tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert runs(tmp_path) == "ran\n"
        assert len(bench.results()) == 3
        bench.assert_valid_requests()


async def test_a_full_context_window_behind_work_says_so_where_nothing_was_said(
    tmp_path: Path, at_work: AtWork
) -> None:
    full = ending(Reply([]), "model_context_window_exceeded")
    async with at_work(script_of(CALLING, full), tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete)
        assert end.reason == "context" and "/compact" in end.detail


async def test_repetition_is_named_and_none_of_its_calls_is_run(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work(script_of(ending(TEXT, "repetition")), tmp_path) as bench:
        assert_named(bench, await bench.ask("go"), "repeating itself")
    async with at_work(script_of(ending(CALLING, "repetition")), tmp_path) as bench:
        assert_named(bench, await bench.ask("go"), "repeating itself")
        assert runs(tmp_path) == ""
        assert "not run" in bench.results()[0]
        bench.assert_valid_requests()


@pytest.mark.parametrize("api", ["openai-chat", "anthropic"])
async def test_a_word_that_nobody_knows_is_told_once_and_whole_calls_behind_it_run(
    tmp_path: Path, api: str, at_work: AtWork
) -> None:
    script = script_of(ending(CALLING, "vendor_done"), ending(CALLING, "vendor_done"), ending(TEXT, "so_so"))
    async with at_work(script, tmp_path) as bench:
        if bench.session.identity.api != api:
            pytest.skip("each API in its own turn")
        assert_named(bench, await bench.ask("go"), '"so_so"')
        assert notices(bench).count('"vendor_done"') == 1
        assert runs(tmp_path) == "ran\nran\n"
        bench.assert_valid_requests()


@pytest.mark.parametrize("word", ["null", "None", "in_progress", "NULL"])
async def test_a_word_that_stands_for_nothing_ends_nothing(
    tmp_path: Path, at_work: AtWork, word: str
) -> None:
    def nothing(request: RecordedRequest) -> Answer:
        whole = ending(CALLING, word)(request)
        assert isinstance(whole, RawStream)
        events = whole.body.replace(b"response.completed", b"response.nothing").split(b"\n\n")
        kept = [event for event in events if b'"choices":[]' not in event and b"[DONE]" not in event]
        return RawStream(b"\n\n".join(kept))

    async with at_work(script_of(nothing, DONE), tmp_path, retries=TWO_ATTEMPTS) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert [event.reason for event in bench.log.of(RetryScheduled)] == ["cut"]
        assert runs(tmp_path) == ""


INCOMPLETE = [
    ("incomplete", '"status":"incomplete","incomplete_details":{"reason":"new_reason"}', '"new_reason"'),
    ("incomplete", '"status":"incomplete","incomplete_details":null', "incomplete"),
    ("incomplete", '"error":null', "incomplete"),
    ("completed", '"status":"incomplete","incomplete_details":{"reason":"new_reason"}', '"new_reason"'),
    ("completed", '"status":"incomplete"', "incomplete"),
    ("completed", '"status":"half_done"', '"half_done"'),
]


@pytest.mark.parametrize(("event", "response", "says"), INCOMPLETE)
async def test_a_response_is_read_by_its_status_and_runs_no_call_unless_it_is_completed(
    tmp_path: Path, at_work: AtWork, event: str, response: str, says: str
) -> None:
    for reply in (TEXT, CALLING):
        async with at_work(script_of(with_status(reply, event, response)), tmp_path) as bench:
            if bench.session.identity.api != "openai-responses":
                pytest.skip("only Responses have a status")
            assert_named(bench, await bench.ask("go"), says)
            assert "Half of it" in shown(bench) or reply is CALLING
            assert runs(tmp_path) == ""
            bench.assert_valid_requests()


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ('"status":"failed","error":{"message":"it broke"}', "provider"),
        ('"status":"cancelled"', "provider"),
        ('"status":"in_progress"', "cut"),
        ('"status":"queued"', "cut"),
    ],
)
async def test_a_response_said_to_be_completed_that_failed_or_goes_on_is_tried_again(
    tmp_path: Path, at_work: AtWork, response: str, reason: str
) -> None:
    broken = with_status(CALLING, "completed", response)
    async with at_work(script_of(broken, DONE), tmp_path, retries=TWO_ATTEMPTS) as bench:
        if bench.session.identity.api != "openai-responses":
            pytest.skip("only Responses have a status")
        assert isinstance(await bench.ask("go"), TurnDone)
        assert [each.reason for each in bench.log.of(RetryScheduled)] == [reason]
        assert runs(tmp_path) == ""


async def test_a_summary_that_the_server_calls_incomplete_changes_nothing(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = script_of(DONE, ending(TEXT, "repetition"))
    async with at_work(script, tmp_path) as bench:
        await bench.ask("go")
        end = await bench.compact()
        assert not isinstance(end, Compacted)
        assert "repeating itself" in end.detail
