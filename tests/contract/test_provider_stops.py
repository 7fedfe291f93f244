"""Esc in every phase of a turn (P30), in its first step and after one: it ends once, at once, and goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import Answer, Break, Call, NoAnswer, RawStream, RecordedRequest, Reply, Say, Think
from keen_tui.demo.wire_json import sse
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    ReasoningDelta,
    RetryScheduled,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from tests.support.agent import AtWork, Bench
from tests.support.faults import COUNT, DONE, HALF, encoded, refused, runs
from tests.support.waiting import LIMIT

PATIENT = RetryPolicy(attempts=4, first_delay=600.0)
READ = Reply([Call("read_file", {"path": "a.txt"})])
SLEEP = Call("bash", {"command": "echo ran >> counter; echo here; exec sleep 600"})
SHORT = Reply([Say("An answer of some length.")])
LONG = Reply([Say("many small pieces " * 1_000)], delta_size=2)

ByRequest = Callable[[RecordedRequest], Answer]


def stalled_in_arguments(request: RecordedRequest) -> Answer:
    """All up to there in one piece: whoever has read the text has read the half call too."""
    whole = encoded(Reply([Say("I call."), HALF]), request)
    return RawStream(whole, broken=Break("stall", after_bytes=whole.index(b"half") + 2))


def pings(_: RecordedRequest) -> Answer:
    body = sse({"type": "ping"}, "ping") * 100
    return RawStream(body, piece=len(body) // 100, pace=0.001, broken=Break("stall", after_bytes=len(body)))


def told(kind: type[Event]) -> Callable[[Bench], Awaitable[object]]:
    return lambda bench: bench.log.wait_for(kind)


async def asked(_: Bench) -> None:
    """The request is with the server: nothing more to wait for."""


async def second_question(bench: Bench) -> None:
    first = await bench.log.wait_for(ApprovalRequested)
    bench.session.answer(first.id, allow=True)
    await bench.log.wait_for(ApprovalRequested, 2)


@dataclass(frozen=True)
class Phase:
    """An answer that holds the turn in that phase, how to see that it is there, and what has run by then."""

    answer: Answer | ByRequest
    reached: Callable[[Bench], Awaitable[object]]
    ran: str = ""
    mode: Mode = "auto"


PHASES = {
    "first byte": Phase(NoAnswer("stall"), asked),
    "only pings": Phase(pings, asked),
    "reasoning": Phase(
        Reply([Think("I think.")], broken=Break("stall", after_deltas=1)), told(ReasoningDelta)
    ),
    "text": Phase(replace(SHORT, broken=Break("stall", after_deltas=1)), told(TextDelta)),
    "endless text (p21)": Phase(LONG, told(TextDelta)),
    "arguments": Phase(stalled_in_arguments, told(TextDelta)),
    "all but the end": Phase(Reply([Say("I call."), HALF], broken=Break("stall")), told(TextDelta)),
    "tool": Phase(Reply([SLEEP, COUNT]), told(ToolOutput), "ran\n"),
    "second tool": Phase(Reply([COUNT, SLEEP, COUNT]), told(ToolOutput), "ran\nran\n"),
    "approval": Phase(Reply([COUNT, COUNT]), told(ApprovalRequested), mode="ask"),
    "between tools": Phase(Reply([COUNT, COUNT]), second_question, "ran\n", mode="ask"),
    "backoff": Phase(refused(429, "slow down"), told(RetryScheduled)),
}
each_phase = pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)


def script_of(*answers: Answer | ByRequest) -> ByRequest:
    """The answers in order, then a plain end."""
    left = list(answers)

    def answer(request: RecordedRequest) -> Answer:
        following = left.pop(0) if left else DONE
        return following(request) if callable(following) else following

    return answer


async def stopped_in(bench: Bench, phase: Phase, requests: int) -> TurnError | TurnIncomplete:
    """The end of a turn that is stopped in that phase, with nothing left running behind it."""
    bench.session.submit("go")
    await bench.server.wait_for_requests(requests)
    await phase.reached(bench)
    bench.session.stop()
    end = await bench.log.wait_for_end()
    assert isinstance(end, TurnError | TurnIncomplete)
    assert end.reason == "interrupted"
    await bench.server.wait_until_idle()
    started = [event.id for event in bench.log.of(ToolStarted)]
    assert [event.id for event in bench.log.of(ToolFinished)] == started
    assert len(bench.log.of(ApprovalRequested)) == len(bench.log.of(ApprovalAnswered))
    return end


async def assert_it_goes_on(bench: Bench, workspace: Path, ran: str) -> None:
    """Retry gets it done; of what had run nothing runs again; only one end each."""
    assert runs(workspace) == ran
    assert isinstance(await bench.retry(), TurnDone)
    assert runs(workspace) == ran
    assert len(bench.log.ends) == 2
    assert bench.session.pending is None
    bench.assert_valid_requests()


@each_phase
async def test_p30_esc_in_the_first_step(tmp_path: Path, at_work: AtWork, phase: Phase) -> None:
    async with at_work(script_of(phase.answer), tmp_path, retries=PATIENT, mode=phase.mode) as bench:
        end = await stopped_in(bench, phase, requests=1)
        assert isinstance(end, TurnIncomplete if phase.ran else TurnError)
        assert bool(bench.session.pending) == bool(phase.ran)
        await assert_it_goes_on(bench, tmp_path, phase.ran)
        roles = [message.role for message in bench.messages()]
        assert roles[:2] == (["user", "assistant"] if phase.ran else ["user"])


@each_phase
async def test_p30_esc_after_a_step(tmp_path: Path, at_work: AtWork, phase: Phase) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with at_work(script_of(READ, phase.answer), tmp_path, retries=PATIENT, mode=phase.mode) as bench:
        end = await stopped_in(bench, phase, requests=2)
        assert isinstance(end, TurnIncomplete)
        await assert_it_goes_on(bench, tmp_path, phase.ran)
        assert "one" in bench.results()[0]


async def test_p30_esc_while_connecting(tmp_path: Path, at_work: AtWork) -> None:
    """A server that takes the connection and never shakes hands."""
    came = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        writer.close()

    async with at_work([DONE], tmp_path) as bench, await asyncio.start_server(hold, "127.0.0.1", 0) as silent:
        port = silent.sockets[0].getsockname()[1]
        bench.switch(base_url=f"https://127.0.0.1:{port}/v1")
        bench.session.submit("go")
        async with asyncio.timeout(LIMIT):
            await came.wait()
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert end.reason == "interrupted"
        bench.switch()
        assert isinstance(await bench.retry(), TurnDone)
        assert [message.text for message in bench.messages()] == ["go"]


async def test_p30_esc_between_retries_loses_no_earlier_work(tmp_path: Path, at_work: AtWork) -> None:
    script = script_of(Reply([COUNT]), NoAnswer("stall"), NoAnswer("stall"))
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("go")
        await bench.server.wait_for_requests(2)
        for ends in (1, 2):
            await bench.server.wait_for_requests(1 + ends)
            bench.session.stop()
            assert isinstance(await bench.log.wait_for_end(ends), TurnIncomplete)
            kept = bench.session.pending
            assert kept is not None and kept.calls == 1
            bench.session.retry()
        assert isinstance(await bench.log.wait_for_end(3), TurnDone)
        assert runs(tmp_path) == "ran\n"
        bench.assert_valid_requests()
