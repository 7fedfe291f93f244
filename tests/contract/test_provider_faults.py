"""What may go wrong with a model server, on every API, at two points of a turn, and how it goes on.

The names P01 to P32 are the rows of the fault catalogue. Whatever happened: the turn ends once, with the
right word, nothing runs twice or half, and the next request is one that the API accepts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    NoAnswer,
    RawStream,
    RecordedRequest,
    Reply,
    Say,
    Seen,
    Think,
)
from keen_tui.demo.wire_json import sse
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import EndReason, StreamStalled
from keen_tui.domain.events import (
    EndEvent,
    Notice,
    RetryScheduled,
    StepRestarted,
    TextDelta,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from keen_tui.providers.registry import APIS
from keen_tui.providers.wire.http_provider import HttpProvider
from tests.support.agent import QUICK_RETRIES, AtWork, Bench
from tests.support.client import parts_of
from tests.support.faults import DONE, HALF, WORK, refused, runs

TWO_ATTEMPTS = RetryPolicy(attempts=2, first_delay=0.001, rate_limit_wait=0.002)
TEXT = Reply([Think("Hm."), Say("This sentence is cut in the mid")])
CALLING = Reply([Say("Now I call."), HALF])


@dataclass(frozen=True)
class Fault:
    """An answer that is no whole reply, the reason it ends a turn with, and whether it is tried again.

    `says` is part of what the user is told, `shows` of the text that had come before.
    """

    answer: Answer
    reason: EndReason
    retried: bool
    says: str = ""
    shows: str = ""
    stalls: bool = False


PINGS = b"".join(sse({"type": "ping"}, "ping") + b": still here\n\n" for _ in range(20))
PAGE = "<html><body>Sign in</body></html>"


def cut(reply: Reply, how: Literal["reset", "close", "end"], **where: object) -> Fault:
    shows = "This sent" if reply is TEXT else "Now I call"
    return Fault(replace(reply, broken=Break(how, **where)), "cut", True, shows=shows)  # type: ignore[arg-type]


FAULTS = {
    "p01 slow down": Fault(refused(429, "slow down"), "provider", True, "slow down"),
    "p03 quota": Fault(refused(429, "no more", code="insufficient_quota"), "provider", False, "no more"),
    "p04 500": Fault(refused(500, "broken"), "provider", True, "broken (500)"),
    "p04 502 page": Fault(HttpAnswer(502, PAGE), "provider", True, "502"),
    "p04 503": Fault(refused(503, "loading"), "provider", True, "loading"),
    "p04 529": Fault(refused(529, "overloaded", type="overloaded_error"), "provider", True, "overloaded"),
    "p05 401": Fault(refused(401, "wrong key"), "auth", False, "TEST_KEY"),
    "p05 403": Fault(refused(403, "not for you"), "auth", False, "TEST_KEY"),
    "p06 404": Fault(refused(404, "no model", code="model_not_found"), "provider", False, "no model (404)"),
    "p06 400": Fault(refused(400, "bad temperature"), "provider", False, "bad temperature (400)"),
    "p08 closed unanswered": Fault(NoAnswer("close"), "network", True, "without an HTTP answer"),
    "p08 reset unanswered": Fault(NoAnswer("reset"), "network", True, "reset the connection"),
    "p09 reset in text": cut(TEXT, "reset", after_deltas=3),
    "p09 closed in text": cut(TEXT, "close", after_deltas=3),
    "p10 reset in arguments": cut(CALLING, "reset", in_arguments=True),
    "p10 closed in arguments": cut(CALLING, "close", in_arguments=True),
    "p11 ended in text": cut(TEXT, "end", after_deltas=3),
    "p11 ended in arguments": cut(CALLING, "end", in_arguments=True),
    "p11 ended before its end": cut(CALLING, "end"),
    "p13 silence": Fault(
        replace(TEXT, broken=Break("stall", after_deltas=3)),
        "stalled",
        True,
        "sent nothing for",
        shows="This sent",
        stalls=True,
    ),
    "p13 only pings": Fault(
        RawStream(PINGS, piece=64, pace=0.02), "stalled", True, "sent nothing for", stalls=True
    ),
    "p23 error in the stream": Fault(
        Reply([Say("Half a thought"), Fail("the model crashed")]),
        "provider",
        True,
        "the model crashed",
        shows="Half a thought",
    ),
    "p27 page": Fault(HttpAnswer(200, PAGE, {"content-type": "text/html"}), "provider", True, "a page"),
    "p27 page said to be a stream": Fault(
        HttpAnswer(200, PAGE, {"content-type": "text/event-stream"}), "provider", True
    ),
    "p27 document": Fault(HttpAnswer(200, {"hello": "world"}), "provider", True, "JSON document"),
    "p27 broken gzip": Fault(
        HttpAnswer(200, "no gzip", {"content-encoding": "gzip"}), "provider", True, "decompressed"
    ),
    "a garbled event": Fault(
        RawStream(b"data: upstream ran out of memory\n\n"), "provider", True, "upstream ran out of memory"
    ),
    "p27 redirect": Fault(
        HttpAnswer(302, "", {"location": "http://127.0.0.1:9/v1"}), "provider", False, "redirects to"
    ),
}
PATIENT, IMPATIENT = 30.0, 0.2
"""Seconds until a reply counts as stalled: short only for the one that does, machines being slow at times."""

each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
GoesOn = Literal["by itself", "retry", "message", "discard"]
"""`by itself`: the fault comes once and is tried again unasked. Else it comes until the turn has ended."""

WAYS: tuple[GoesOn, ...] = ("by itself", "retry", "message", "discard")


@asynccontextmanager
async def at_fault(
    at_work: AtWork,
    fault: Fault,
    script: Sequence[Answer],
    workspace: Path,
    retries: RetryPolicy = TWO_ATTEMPTS,
) -> AsyncIterator[Bench]:
    """A session at work; its provider loses patience with the fault, if that is one that stalls."""
    benches: list[Bench] = []
    answers = iter(script)

    def answer(_: RecordedRequest) -> Answer:
        chosen = next(answers)
        provider = benches[0].provider
        assert isinstance(provider, HttpProvider)
        seconds = IMPATIENT if fault.stalls and chosen is fault.answer else PATIENT
        provider.connection = replace(provider.connection, stall_seconds=seconds)
        return chosen

    async with at_work(answer, workspace, retries=retries) as bench:
        benches.append(bench)
        yield bench


def ways_on(fault: Fault) -> list[GoesOn]:
    return [how for how in WAYS if fault.retried or how != "by itself"]


def asked_for(fault: Fault, how: GoesOn) -> list[Answer]:
    """The fault as often as it is asked for before it goes on that way; a step has two attempts."""
    return [fault.answer] * (2 if fault.retried and how != "by itself" else 1)


def assert_told(bench: Bench, fault: Fault, how: GoesOn, end: EndEvent, seen_before: int) -> None:
    """One end, in one sentence that names the server; attempts told; what had come was shown.

    `seen_before` is the number of events before this turn.
    """
    events = bench.log.events[seen_before:]
    attempts = [event for event in events if isinstance(event, RetryScheduled)]
    told = [(event.reason, event.attempt, event.max_attempts) for event in attempts]
    assert told == ([(fault.reason, 2, 2)] if fault.retried else [])
    assert sum(isinstance(event, StepRestarted) for event in events) == len(attempts)
    assert sum(isinstance(event, EndEvent) for event in events) == 1
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert not fault.shows or shown.count(fault.shows) == len(asked_for(fault, how))
    if how == "by itself":
        return
    assert isinstance(end, TurnError | TurnIncomplete)
    assert end.reason == fault.reason
    assert "127.0.0.1" in end.detail and fault.says in end.detail
    assert "\n" not in end.detail and "<" not in end.detail, "no page is dumped"


async def go_on(bench: Bench, fault: Fault, how: GoesOn) -> None:
    """The next turn, which the server answers well: one request, with nothing in it of what was cut."""
    before = len(bench.server.requests)
    if how == "discard":
        bench.session.discard()
    end = await (bench.retry() if how == "retry" else bench.ask("and now?"))
    assert isinstance(end, TurnDone)
    assert len(bench.server.requests) == before + 1
    assert bench.session.pending is None
    sent = bench.server.requests[-1].raw.decode()
    assert "echo half" not in sent and not (fault.shows and fault.shows in sent)


async def faulted(bench: Bench, fault: Fault, how: GoesOn, first: list[Reply]) -> EndEvent:
    """The end of a turn with that fault behind the `first` steps, all that was told of it checked."""
    events, requests = len(bench.log.events), len(bench.server.requests)
    end = await bench.ask("go")
    assert_told(bench, fault, how, end, events)
    expected = len(first) + len(asked_for(fault, how)) + (how == "by itself")
    assert len(bench.server.requests) == requests + expected
    return end


@each_fault
async def test_in_the_first_step_nothing_is_kept(tmp_path: Path, at_work: AtWork, fault: Fault) -> None:
    script = [answer for how in ways_on(fault) for answer in (*asked_for(fault, how), DONE)]
    async with at_fault(at_work, fault, script, tmp_path) as bench:
        for how in ways_on(fault):
            before = len(bench.session.conversation)
            end = await faulted(bench, fault, how, [])
            assert isinstance(end, TurnDone if how == "by itself" else TurnError)
            assert bench.session.pending is None
            if how != "by itself":
                assert [message.text for message in bench.session.conversation[before:]] == ["go"]
                await go_on(bench, fault, how)
            asked = {"message": "go\n\nand now?", "discard": "and now?"}.get(how, "go")
            assert bench.messages()[-1] == Seen("user", asked), how
        assert runs(tmp_path) == ""
        bench.assert_valid_requests()


@each_fault
async def test_after_a_step_its_work_is_kept(tmp_path: Path, at_work: AtWork, fault: Fault) -> None:
    script = [answer for how in ways_on(fault) for answer in (WORK, *asked_for(fault, how), DONE)]
    async with at_fault(at_work, fault, script, tmp_path) as bench:
        for number, how in enumerate(ways_on(fault), 1):
            end = await faulted(bench, fault, how, [WORK])
            assert isinstance(end, TurnDone if how == "by itself" else TurnIncomplete)
            assert (end.calls, end.text.partition("\n")[0]) == (1, "I count.")
            if how != "by itself":
                assert bench.session.pending is not None
                assert bench.session.conversation[-1].text == "go"
                await go_on(bench, fault, how)
            roles = " ".join(message.role for message in bench.messages())
            assert roles.endswith(
                {"message": "user assistant tool user", "discard": "user assistant user"}.get(
                    how, "user assistant tool"
                )
            ), how
            assert runs(tmp_path) == "ran\n" * number, "the kept call ran once, the one cut off never"
        assert len(bench.log.ends) == 2 * len(ways_on(fault)) - fault.retried
        bench.assert_valid_requests()


async def test_p07_an_overflow_shortens_the_oldest_results_once_and_goes_on(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "big.txt").write_text("a line\n" * 1_500)
    full = refused(400, "maximum context length exceeded", code="context_length_exceeded")
    read = Reply([Call("read_file", {"path": "big.txt"})])
    async with at_work([read, WORK, full, DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        (told,) = bench.log.of(Notice)
        assert "context window is full" in told.text
        assert [message.text for message in bench.messages() if message.role == "user"] == ["go"]
        long, short = bench.results(2)[0], bench.results(3)[0]
        assert len(long) > 5 * len(short)
        assert "characters left out to fit the context window" in short
        assert bench.results(2)[1] == bench.results(3)[1], "what is short stays"
        bench.assert_valid_requests()


async def test_p07_each_retry_shortens_more_and_what_is_saved_is_short(
    tmp_path: Path, at_work: AtWork
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"file {number}\n" + "x" * 9_000 * (3 - number))
    full = refused(413, "too large")
    reads = [Reply([Call("read_file", {"path": f"{number}.txt"})]) for number in range(3)]
    async with at_work([*reads, full, full, full, full, DONE], tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete)
        assert end.reason == "context"
        saved = end.trace_bytes
        again = await bench.retry()
        assert isinstance(again, TurnIncomplete)
        assert again.trace_bytes < saved
        assert isinstance(await bench.retry(), TurnDone)
        lengths = [sum(map(len, bench.results(number))) for number in (3, 4, 5, 6, 7)]
        assert lengths[0] > lengths[1] == lengths[2] > lengths[3] == lengths[4]
        bench.assert_valid_requests()


async def test_p07_without_results_to_shorten_the_message_alone_is_too_long(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([refused(413, "too large")], tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnError)
        assert (end.reason, len(bench.server.requests)) == ("context", 1)


@pytest.mark.parametrize("api", APIS)
async def test_p13_a_server_that_never_answers_is_given_up(api: Api) -> None:
    with pytest.raises(StreamStalled):
        await parts_of([NoAnswer("stall")], api=api, stall_seconds=0.3)


@pytest.mark.parametrize(
    ("name", "attempts"), [("p27 page", 2), ("p27 document", 2), ("a garbled event", 4), ("p04 500", 4)]
)
async def test_a_document_in_place_of_a_stream_is_asked_for_once_more_at_most(
    tmp_path: Path, at_work: AtWork, name: str, attempts: int
) -> None:
    """A server that can't stream charges for each of them."""
    async with at_work(lambda _: FAULTS[name].answer, tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("go")
        assert end.reason == "provider" and FAULTS[name].says in end.detail
        assert len(bench.server.requests) == attempts
        assert bench.log.of(RetryScheduled)[-1].max_attempts == attempts
