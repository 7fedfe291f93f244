"""What may go wrong with a model server, on every API, at every point of a turn, and how it goes on.

The names P01 to P32 are the rows of the fault catalogue. Whatever happened: the turn ends once, with the
right word, nothing runs twice or half, and the next request is one that the API accepts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from keen_tui.agent.retries import RetryPolicy
from keen_tui.demo.model_server import ModelServer
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
    Think,
)
from keen_tui.demo.wire_json import sse
from keen_tui.errors import EndReason, StreamStalled
from keen_tui.events import RetryScheduled, TextDelta, TurnDone, TurnError, TurnIncomplete
from keen_tui.models import Api
from keen_tui.providers.http_provider import HttpProvider
from keen_tui.providers.registry import APIS
from tests.support.agent import ONE_ATTEMPT, QUICK_RETRIES, AtWork, Bench
from tests.support.client import parts_of

COUNT = Call("bash", {"command": "echo ran >> counter"})
NEVER = Call("bash", {"command": "echo half >> counter"})
WORK = Reply([Think("First this."), Say("I count."), COUNT])
DONE = Reply([Say("All done.")])
TEXT = Reply([Think("Hm."), Say("This sentence is cut in the mid")])
CALLING = Reply([Say("Now I call."), NEVER])


def refused(status: int, message: str, **fields: object) -> HttpAnswer:
    return HttpAnswer(status, {"error": {"message": message, **fields}})


@dataclass(frozen=True)
class Fault:
    """An answer that is no whole reply, the reason it ends a turn with, and whether it is tried again."""

    answer: Answer
    reason: EndReason
    retried: bool
    stalls: bool = False


PINGS = b"".join(sse({"type": "ping"}, "ping") + b": still here\n\n" for _ in range(20))

FAULTS = {
    "p01 slow down": Fault(refused(429, "slow down"), "provider", True),
    "p02 quota": Fault(refused(429, "no more", code="insufficient_quota"), "provider", False),
    "p04 500": Fault(refused(500, "broken"), "provider", True),
    "p04 502 page": Fault(HttpAnswer(502, "<html>bad gateway</html>"), "provider", True),
    "p04 503": Fault(refused(503, "loading"), "provider", True),
    "p04 529": Fault(refused(529, "overloaded", type="overloaded_error"), "provider", True),
    "p05 401": Fault(refused(401, "wrong key"), "auth", False),
    "p05 403": Fault(refused(403, "not for you"), "auth", False),
    "p06 404": Fault(refused(404, "no such model", code="model_not_found"), "provider", False),
    "p06 400": Fault(refused(400, "bad parameter: temperature"), "provider", False),
    "p08 closed unanswered": Fault(NoAnswer("close"), "network", True),
    "p08 reset unanswered": Fault(NoAnswer("reset"), "network", True),
    "p09 reset in text": Fault(replace(TEXT, broken=Break("reset", after_deltas=2)), "cut", True),
    "p09 closed in text": Fault(replace(TEXT, broken=Break("close", after_deltas=2)), "cut", True),
    "p10 reset in arguments": Fault(replace(CALLING, broken=Break("reset", in_arguments=True)), "cut", True),
    "p10 closed in arguments": Fault(replace(CALLING, broken=Break("close", in_arguments=True)), "cut", True),
    "p11 ended in text": Fault(replace(TEXT, broken=Break("end", after_deltas=2)), "cut", True),
    "p11 ended in arguments": Fault(replace(CALLING, broken=Break("end", in_arguments=True)), "cut", True),
    "p11 ended before its end": Fault(replace(CALLING, broken=Break("end")), "cut", True),
    "p13 silence": Fault(replace(TEXT, broken=Break("stall", after_deltas=2)), "stalled", True, stalls=True),
    "p13 only pings": Fault(RawStream(PINGS, piece=64, pace=0.02), "stalled", True, stalls=True),
    "p23 error in the stream": Fault(Reply([Say("Half"), Fail("the model crashed")]), "provider", True),
    "p27 page": Fault(
        HttpAnswer(200, "<html>Sign in</html>", {"content-type": "text/html"}), "provider", False
    ),
    "p27 document": Fault(HttpAnswer(200, {"hello": "world"}), "provider", False),
    "p27 redirect": Fault(HttpAnswer(302, "", {"location": "http://127.0.0.1:9/v1"}), "provider", False),
}
PATIENT, IMPATIENT = 30.0, 0.2
"""Seconds until a reply counts as stalled: short only for the one that does, machines being slow at times."""

each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
GoesOn = Literal["retry", "message", "discard"]


@asynccontextmanager
async def at_fault(
    at_work: AtWork,
    fault: Fault,
    script: Sequence[Answer],
    workspace: Path,
    retries: RetryPolicy = ONE_ATTEMPT,
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


def runs(workspace: Path) -> str:
    counter = workspace / "counter"
    return counter.read_text() if counter.exists() else ""


async def go_on(bench: Bench, how: GoesOn) -> None:
    """The next turn, which the server answers well."""
    if how == "discard":
        bench.session.discard()
    end = await (bench.retry() if how == "retry" else bench.ask("and now?"))
    assert isinstance(end, TurnDone)
    assert bench.session.pending is None
    bench.assert_valid_requests()


@each_fault
@pytest.mark.parametrize("how", ["retry", "message", "discard"])
async def test_in_the_first_step_nothing_is_kept(
    tmp_path: Path, at_work: AtWork, fault: Fault, how: GoesOn
) -> None:
    async with at_fault(at_work, fault, [fault.answer, DONE], tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnError)
        assert (end.reason, len(bench.log.ends)) == (fault.reason, 1)
        assert "127.0.0.1" in end.detail and "\n" not in end.detail
        assert bench.session.pending is None
        await go_on(bench, how)
        texts = [message.text for message in bench.messages()]
        assert texts == {"retry": ["go"], "message": ["go\n\nand now?"], "discard": ["and now?"]}[how]
        assert runs(tmp_path) == ""


@each_fault
@pytest.mark.parametrize("how", ["retry", "message", "discard"])
async def test_after_a_step_its_work_is_kept(
    tmp_path: Path, at_work: AtWork, fault: Fault, how: GoesOn
) -> None:
    async with at_fault(at_work, fault, [WORK, fault.answer, DONE], tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete)
        assert (end.reason, end.calls, len(bench.log.ends)) == (fault.reason, 1, 1)
        assert bench.session.pending is not None
        await go_on(bench, how)
        assert runs(tmp_path) == "ran\n", "the kept call ran once, the one that was cut off never"
        roles = [message.role for message in bench.messages()]
        assert (
            roles
            == {
                "retry": ["user", "assistant", "tool"],
                "message": ["user", "assistant", "tool", "user"],
                "discard": ["user", "assistant", "user"],
            }[how]
        )


@each_fault
async def test_what_may_pass_is_tried_again_by_itself_and_the_rest_is_not(
    tmp_path: Path, at_work: AtWork, fault: Fault
) -> None:
    script = [WORK, fault.answer, DONE]
    async with at_fault(at_work, fault, script, tmp_path, QUICK_RETRIES) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone if fault.retried else TurnIncomplete)
        told = [event.reason for event in bench.log.of(RetryScheduled)]
        assert told == ([fault.reason] if fault.retried else [])
        assert runs(tmp_path) == "ran\n"
        bench.assert_valid_requests()


async def test_p07_an_overflow_shortens_the_oldest_results_once_and_goes_on(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "big.txt").write_text("a line\n" * 1_500)
    full = refused(400, "maximum context length exceeded", code="context_length_exceeded")
    read = Reply([Call("read_file", {"path": "big.txt"})])
    async with at_work([read, WORK, full, DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
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


async def test_p14_a_late_first_byte_is_no_fault(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([replace(DONE, wait=0.4)], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)


async def test_p12_an_end_behind_the_stop_reason_is_complete(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([replace(DONE, send_done=False)], tmp_path, retries=QUICK_RETRIES) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert len(bench.server.requests) == 1


async def test_p21_an_endless_and_a_huge_reply_arrive_whole(tmp_path: Path, at_work: AtWork) -> None:
    many, huge = "ab" * 10_000, "x" * 1_000_000
    script = [Reply([Say(many)], delta_size=2), Reply([Say(huge)], delta_size=len(huge))]
    async with at_work(script, tmp_path) as bench:
        first = await bench.ask("many")
        second = await bench.ask("huge")
        assert (first.text, second.text) == (many, huge)
        assert sum(len(event.text) for event in bench.log.of(TextDelta)) == len(many) + len(huge)


async def test_p27_a_redirect_takes_the_key_nowhere(tmp_path: Path, at_work: AtWork) -> None:
    async with ModelServer([DONE]) as other:
        away = HttpAnswer(307, "", {"location": other.base_url})
        async with at_work([away], tmp_path) as bench:
            end = await bench.ask("go")
            assert isinstance(end, TurnError)
            assert other.requests == []


async def test_p31_a_key_that_the_server_echoes_is_masked(tmp_path: Path, at_work: AtWork) -> None:
    echo = refused(401, "the key test-key and sk-abcdefghijklmnop are wrong")
    async with at_work([echo], tmp_path) as bench:
        await bench.ask("go")
        told = repr(bench.log.events)
        assert "test-key" not in told and "sk-abc" not in told
        assert "[key]" in told


async def test_p32_waits_do_not_follow_the_wall_clock(
    tmp_path: Path, at_work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = replace(TEXT, broken=Break("close", after_deltas=1))
    async with at_work([cut, DONE], tmp_path, retries=QUICK_RETRIES) as bench:
        monkeypatch.setattr("time.time", lambda: 4e9)
        assert isinstance(await bench.ask("go"), TurnDone)
