"""Stop at any point of a turn: it ends once, nothing runs twice, and the next request is valid."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import pytest

from keen_tui.demo.script import Call, RecordedRequest, Reply, Say, Think
from keen_tui.demo.wires import seen
from keen_tui.domain.events import (
    ApprovalRequested,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.tools.toolbox import CommandTerms, build_toolbox
from keen_tui.tools.work_tree.watch import CommandChanges
from tests.campaigns.waits.playing import broken_at, count_points
from tests.campaigns.waits.scripts import SCRIPTS, WaitScript
from tests.campaigns.waits.stage import Fault
from tests.support.agent import AtWork, Bench
from tests.support.agent import at_work as plainly_at_work
from tests.support.waiting import until_idle


def count(name: str) -> Call:
    return Call("bash", {"command": f"echo {name} >> counter"})


STEPS = (
    Reply([Think("Hm."), Say("First."), count("a"), Call("write_file", {"path": "f", "content": "1"})]),
    Reply([Say("Second."), count("b"), count("c")]),
    Reply([Say("Done.")]),
)


def script(request: RecordedRequest) -> Reply:
    """The step that follows from what the request holds, as a model would go on."""
    done = sum(message.role == "assistant" for message in seen(request))
    return STEPS[min(done, len(STEPS) - 1)]


def assert_all_holds(bench: Bench, workspace: Path) -> None:
    assert len(bench.log.ends) == len(bench.log.of(TurnStarted)), "exactly one end a turn"
    started = [event.id for event in bench.log.of(ToolStarted)]
    assert [event.id for event in bench.log.of(ToolFinished)] == started
    bench.assert_valid_requests()
    counter = workspace / "counter"
    ran = counter.read_text().split() if counter.exists() else []
    finished = [
        event.arguments["command"].split()[1]
        for event in bench.log.of(ToolFinished)
        if event.name == "bash" and not event.result.is_error
    ]
    assert all(finished.count(name) <= 1 for name in "abc"), "a call with a result never runs again"
    assert set(finished) <= set(ran)


@pytest.mark.parametrize("rounds", range(0, 60, 10))
@pytest.mark.parametrize("milliseconds", [0, 20, 40, 70])
async def test_stopped_anywhere_it_can_be_resumed(
    tmp_path: Path, at_work: AtWork, milliseconds: int, rounds: int
) -> None:
    """Where that is depends on the machine; what must hold does not."""
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("go")
        await asyncio.sleep(milliseconds / 1_000)
        for _ in range(rounds):
            await asyncio.sleep(0)
        bench.session.stop()
        await until_idle(bench.session)
        await bench.log.wait_for_end()
        if not isinstance(bench.log.ends[-1], TurnDone):
            assert isinstance(await bench.retry(), TurnDone)
        assert_all_holds(bench, tmp_path)
        assert bench.session.pending is None
        written = (tmp_path / "f").exists()
        assert bool(bench.log.ends[-1].turn_memory.files_changed) == written, "what changed is remembered"


@pytest.mark.parametrize("kind", [TurnStarted, ToolStarted, ToolFinished])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
async def test_stopped_at_every_event_again_and_again_it_still_gets_done(
    tmp_path: Path, at_work: AtWork, kind: type[TurnStarted | ToolStarted | ToolFinished], number: int
) -> None:
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("go")
        if kind is not TurnStarted:
            await bench.log.wait_for(kind, number)
        bench.session.stop()
        await until_idle(bench.session)
        for _ in range(20):
            await bench.log.wait_for_end(len(bench.log.of(TurnStarted)))
            if isinstance(bench.log.ends[-1], TurnDone):
                break
            await bench.retry()
        assert isinstance(bench.log.ends[-1], TurnDone)
        assert_all_holds(bench, tmp_path)


@pytest.mark.parametrize("approvals", [1, 2, 3, 4])
async def test_stopped_at_an_approval_nothing_behind_it_has_run(
    tmp_path: Path, at_work: AtWork, approvals: int
) -> None:
    async with at_work(script, tmp_path, mode="ask") as bench:
        bench.session.submit("go")
        for number in range(1, approvals):
            request = await bench.log.wait_for(ApprovalRequested, number)
            bench.session.answer(request.id, allow=True)
        await bench.log.wait_for(ApprovalRequested, approvals)
        bench.session.stop()
        await bench.log.wait_for_end()
        ran = sum(event.result.ran for event in bench.log.of(ToolFinished))
        assert ran == approvals - 1
        bench.session.set_mode("auto")
        assert isinstance(await bench.retry(), TurnDone)
        assert_all_holds(bench, tmp_path)


async def test_stopped_before_the_first_request_it_ends_as_an_error(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("go")
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert end.reason == "interrupted"
        assert not bench.session.running
        assert bench.server.requests == []


async def test_a_stop_during_the_search_for_changes_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolbox = build_toolbox(tmp_path / "work", commands=CommandTerms(scratch=tmp_path / "scratch"))
    (tmp_path / "work").mkdir()
    assert toolbox.watch
    looked = toolbox.watch.end
    loop = asyncio.get_running_loop()
    async with plainly_at_work(script, tmp_path / "work", toolbox=toolbox) as bench:

        def end(*, keeps: bool) -> CommandChanges:
            stopped = asyncio.run_coroutine_threadsafe(stop(), loop)
            stopped.result()
            return looked(keeps=keeps)

        async def stop() -> None:
            bench.session.stop()
            await asyncio.sleep(0)

        monkeypatch.setattr(toolbox.watch, "end", end)
        ended = await bench.ask("go")
        assert isinstance(ended, TurnIncomplete)
        assert ended.reason == "interrupted"
        assert len(bench.server.requests) == 1
        assert "counter" in str(bench.log.of(ToolFinished)[0].result.facts)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_a_fault_where_a_script_waits_breaks_no_promise(tmp_path: Path, script: WaitScript) -> None:
    """A sample of `python -m tests.campaigns.waits`, which tries every point."""
    points = await count_points(script, "openai-chat", tmp_path / "count")
    for number, fault in enumerate(get_args(Fault), 1):
        point = points * number // 5 + 1
        assert await broken_at(script, "openai-chat", tmp_path / fault, point, fault) == []
