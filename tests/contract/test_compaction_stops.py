"""A compaction that is stopped at any point, and what is asked for while one runs; on every API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import (
    Answer,
    NoAnswer,
    RecordedRequest,
    Reply,
)
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionFailed,
    RetryScheduled,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import TurnMemory
from tests.support.agent import AtWork, Bench
from tests.support.compacting import (
    CUT,
    SUMMARISED,
    SUMMARY,
    folded,
    requested,
    user,
)
from tests.support.faults import DONE, WORK, refused
from tests.support.waiting import until_idle


async def summarise_and_stop(bench: Bench, reached: Callable[[], Awaitable[object]]) -> None:
    """A compaction that is stopped at some point; what must hold wherever that was."""
    before = bench.session.conversation
    bench.session.compact()
    await reached()
    bench.session.stop()
    bench.session.stop()
    await until_idle(bench.session)
    end = await bench.log.wait_for_compaction()
    assert len(bench.log.compactions) == 1
    if isinstance(end, CompactionFailed):
        assert (end.reason, bench.session.conversation) == ("interrupted", before)
        assert bench.session.conversation == folded(bench)
        assert isinstance(await bench.compact(), Compacted)
    assert len(bench.session.conversation) == 2
    assert bench.session.conversation == folded(bench)
    assert isinstance(await bench.ask("next"), TurnDone)
    assert bench.messages()[0] == SUMMARISED
    bench.assert_valid_requests()


def answering(request: RecordedRequest) -> Answer:
    return replace(SUMMARY, delta_size=3) if "summary" in request.raw.decode() else DONE


@pytest.mark.parametrize("rounds", [*range(12), 15, 20, 30, 45, 60])
async def test_stopped_in_any_round_it_changes_nothing_or_all(
    tmp_path: Path, at_work: AtWork, rounds: int
) -> None:
    async with at_work(answering, tmp_path) as bench:
        await bench.ask("hi")

        async def some_rounds() -> None:
            for _ in range(rounds):
                await asyncio.sleep(0)

        await summarise_and_stop(bench, some_rounds)


@pytest.mark.parametrize("number", [1, 2, 5, 12])
async def test_stopped_while_it_streams_it_changes_nothing_or_all(
    tmp_path: Path, at_work: AtWork, number: int
) -> None:
    async with at_work(answering, tmp_path) as bench:
        await bench.ask("hi")
        await summarise_and_stop(bench, lambda: bench.log.wait_for(CompactionDelta, number))


async def test_stopped_while_nothing_comes_it_fails_at_once(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [DONE, NoAnswer("stall"), SUMMARY, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("hi")

        await summarise_and_stop(bench, lambda: requested(bench, 2))
        assert isinstance(bench.log.compactions[0], CompactionFailed)


async def test_stopped_between_two_attempts_it_waits_no_longer(tmp_path: Path, at_work: AtWork) -> None:
    patient = RetryPolicy(attempts=4, first_delay=600)
    async with at_work([DONE, CUT, SUMMARY, DONE], tmp_path, retries=patient) as bench:
        await bench.ask("hi")
        await summarise_and_stop(bench, lambda: bench.log.wait_for(RetryScheduled))
        assert isinstance(bench.log.compactions[0], CompactionFailed)


@pytest.mark.parametrize("answer", [SUMMARY, Reply([])], ids=["summary", "none"])
async def test_what_is_sent_meanwhile_goes_afterwards(
    tmp_path: Path, at_work: AtWork, answer: Answer
) -> None:
    async with at_work([DONE, answer, DONE, DONE], tmp_path) as bench:
        await bench.ask("hi")
        bench.session.compact()
        bench.session.submit("one")
        bench.session.submit("two")
        assert bench.session.queue == ("one", "two")
        await bench.log.wait_for_end(3)
        assert [event.text for event in bench.log.of(TurnStarted)] == ["hi", "one", "two"]
        kinds = [type(event) for event in bench.log.events if isinstance(event, TurnStarted | Compacted)]
        assert kinds == [TurnStarted, *([Compacted] if answer is SUMMARY else []), TurnStarted, TurnStarted]
        first = SUMMARISED if answer is SUMMARY else user("hi")
        assert bench.messages()[0] == first
        bench.assert_valid_requests()


async def test_after_a_stop_what_was_sent_meanwhile_waits_for_the_next_turn_that_is_done(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [DONE, NoAnswer("stall"), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("hi")
        bench.session.compact()
        bench.session.submit("waits")
        await requested(bench, 2)
        bench.session.stop()
        await bench.log.wait_for_compaction()
        assert (bench.session.running, bench.session.queue) == (False, ("waits",))
        bench.session.submit("first")
        await bench.log.wait_for_end(3)
        assert [event.text for event in bench.log.of(TurnStarted)] == ["hi", "first", "waits"]
        assert bench.session.queue == ()


async def test_behind_a_turn_that_failed_what_was_sent_meanwhile_waits_for_the_retry(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([DONE, refused(401, "no"), SUMMARY, DONE, DONE], tmp_path) as bench:
        await bench.ask("hi")
        assert isinstance(await bench.ask("fails"), TurnError)
        bench.session.compact()
        bench.session.submit("waits")
        await bench.log.wait_for_compaction()
        assert (bench.session.running, bench.session.queue) == (False, ("waits",))
        bench.session.retry()
        await bench.log.wait_for_end(4)
        assert [event.text for event in bench.log.of(TurnStarted)] == ["hi", "fails", None, "waits"]


async def test_everything_else_is_refused_meanwhile(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [WORK, DONE, WORK, CUT, NoAnswer("stall"), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("hi")
        assert isinstance(await bench.ask("more"), TurnIncomplete)
        before = (bench.session.conversation, bench.session.pending)
        bench.session.compact()
        await requested(bench, 5)
        refused_deeds: list[Callable[[], None]] = [
            bench.session.retry,
            bench.session.discard,
            bench.switch,
            bench.session.compact,
            lambda: bench.session.edit_memory(1, TurnMemory(notes=("no",))),
            lambda: bench.session.require_settled("undo"),
            lambda: bench.session.open("other", "", ()),
        ]
        for deed in refused_deeds:
            with pytest.raises(SessionRefused, match="summary is being written"):
                deed()
        bench.session.stop()
        await bench.log.wait_for_compaction()
        assert (bench.session.conversation, bench.session.pending) == before
        assert isinstance(await bench.retry(), TurnDone)
        bench.assert_valid_requests()
