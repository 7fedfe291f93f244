"""The context meter: what the running turn has reached, and between turns what the next request holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import ContextMeasured, ToolFinished, TurnStarted
from keen_tui.domain.messages import TokenUsage, TurnMemory
from keen_tui.domain.reports import POLICIES
from tests.support.agent import AtWork, Bench
from tests.support.waiting import until, until_idle

FILES = ("a.txt", "b.txt", "c.txt")
READ_ALL = Reply([Call("read_file", {"path": name}) for name in FILES], usage=None)
OK = Reply([Say("Ok.")], usage=None)
WRITE = Call("write_file", {"path": "new.py", "content": "x = 1\n"})
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))


def measured(bench: Bench) -> int | None:
    """What the meter shows."""
    return bench.log.of(ContextMeasured)[-1].tokens


async def shows_next_request(bench: Bench) -> int:
    """Wait until the meter shows what the context view says of the next request; gives the tokens."""
    report = await bench.session.context()
    tokens = report.totals[POLICIES.index(report.policy)].tokens
    await until(lambda: bench.log.of(ContextMeasured) and measured(bench) == tokens)
    return tokens


def with_files(folder: Path) -> None:
    for name in FILES:
        (folder / name).write_text(f"{name} says something\n" * 400)


async def test_after_a_turn_that_read_files_the_meter_shows_the_next_request(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    with_files(tmp_path)
    async with at_work([READ_ALL, OK, OK], tmp_path, policy=policy) as bench:
        bench.session.warm_up()
        empty = await shows_next_request(bench)
        await bench.ask("read them")
        after_reading = await shows_next_request(bench)
        read = sum(len(event.result.text) for event in bench.log.of(ToolFinished))
        assert read > 20_000
        assert (after_reading - empty > read / 8) == (policy == "full-trace")
        await bench.ask("and now?")
        await shows_next_request(bench)


async def test_while_a_turn_runs_the_meter_shows_what_it_has_reached(tmp_path: Path, at_work: AtWork) -> None:
    with_files(tmp_path)
    used = TokenUsage(input_tokens=5_000, output_tokens=40)
    async with at_work([Reply(READ_ALL.parts, usage=used), OK], tmp_path) as bench:
        bench.session.warm_up()
        await shows_next_request(bench)
        await bench.ask("read them")
        await bench.log.caught_up()
        events = bench.log.events
        begun = next(place for place, event in enumerate(events) if isinstance(event, TurnStarted))
        reached = [event.tokens or 0 for event in events[begun:] if isinstance(event, ContextMeasured)]
        assert reached[1] == 5_040, "the request and the reply, as the provider counts them"
        assert reached[1:5] == sorted(set(reached[1:5])), "it grows with each result"
        assert reached[4] > 5_040 + 20_000 / 8
        await shows_next_request(bench)


async def test_without_reported_usage_the_meter_grows_with_the_results(
    tmp_path: Path, at_work: AtWork
) -> None:
    with_files(tmp_path)
    async with at_work([READ_ALL, OK], tmp_path) as bench:
        bench.session.warm_up()
        before = await shows_next_request(bench)
        await bench.ask("read them")
        highest = max(event.tokens or 0 for event in bench.log.of(ContextMeasured))
        assert highest > before + 20_000 / 8
        assert await shows_next_request(bench) < before + 100


async def test_whatever_changes_the_next_request_moves_the_meter(tmp_path: Path, at_work: AtWork) -> None:
    with_files(tmp_path)
    script = [
        READ_ALL,
        Reply([WRITE], usage=None),
        OK,
        Reply([Say("A summary.")], usage=None),
        Reply([WRITE], usage=None),
        CUT,
    ]
    async with at_work(script, tmp_path) as bench:
        session = bench.session
        session.warm_up()
        await bench.ask("read them")
        turn = await shows_next_request(bench)
        session.set_policy("full-trace")
        assert await shows_next_request(bench) > turn
        session.set_policy("summary")
        await shows_next_request(bench)
        session.edit_memory(1, TurnMemory(notes=("remember this for later turns",) * 9))
        assert await shows_next_request(bench) > turn
        session.run_own("echo " + "word " * 300)
        await until_idle(session)
        noted = await shows_next_request(bench)
        assert noted > turn + 300
        await bench.compact()
        await shows_next_request(bench)
        await bench.ask("write, and be cut")
        pending = await shows_next_request(bench)
        session.discard()
        assert await shows_next_request(bench) < pending


async def test_a_front_end_without_a_meter_pays_nothing(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([OK], tmp_path) as bench:
        await bench.ask("hi")
        await bench.log.caught_up()
        assert not bench.log.of(ContextMeasured)


@pytest.mark.parametrize("is_empty", [True, False])
async def test_a_session_that_is_opened_is_measured(tmp_path: Path, at_work: AtWork, is_empty: bool) -> None:
    async with at_work([OK, OK], tmp_path) as bench:
        bench.session.warm_up()
        empty = await shows_next_request(bench)
        await bench.ask("a message that is not short, so that it can be seen " * 9)
        assert await shows_next_request(bench) > empty
        past = [] if is_empty else list(bench.log.events)
        bench.session.open("other", "", past)
        assert (await shows_next_request(bench) == empty) == is_empty
