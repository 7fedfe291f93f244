"""Calls that were cut off: they are listed for the person, named to the model, and outlive everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Answer, Call, NoAnswer, Reply, Say
from keen_tui.domain.choices import Api
from keen_tui.domain.events import (
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.domain.messages import ToolResult, UnknownCall
from keen_tui.domain.own_tools import own_tool
from keen_tui.frontends.headless.sentences import what_is_lost, what_is_pending
from keen_tui.memory.pending import PendingState
from keen_tui.memory.unfinished import endings, unfinished
from keen_tui.providers.registry import APIS
from keen_tui.storage.pending_file import read_pending
from keen_tui.tools.toolbox import build_toolbox
from tests.support import story
from tests.support.agent import AtWork, Bench
from tests.support.compacting import CUT
from tests.support.faults import COUNT, DONE
from tests.support.saving import place
from tests.support.waiting import until

each_api = pytest.mark.parametrize("api", APIS)
DEPLOY = "echo begun; exec sleep 600"


async def stopped_midway(bench: Bench, ends: int = 1) -> TurnIncomplete:
    """The turn runs into a command that waits; then the user stops it."""
    outputs = len(bench.log.of(ToolOutput))
    bench.session.submit("deploy")
    await until(lambda: any("begun" in each.text for each in bench.log.of(ToolOutput)[outputs:]))
    bench.session.stop()
    end = await bench.log.wait_for_end(ends)
    assert isinstance(end, TurnIncomplete)
    return end


def listed(end: object) -> list[tuple[str, str]]:
    assert isinstance(end, TurnIncomplete)
    return [(call.name, call.target) for call in end.unknown_calls]


async def test_a_stopped_command_is_listed_and_stays_listed_until_the_turn_is_done(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([COUNT, Call("bash", {"command": DEPLOY}), COUNT]), CUT, DONE]
    async with at_work(script, tmp_path) as bench:
        end = await stopped_midway(bench)
        assert listed(end) == [("bash", DEPLOY)], "neither the call that ended nor the one that never ran"
        assert listed(await bench.retry()) == [("bash", DEPLOY)], "a failed retry loses nothing"
        assert isinstance(await bench.retry(), TurnDone)
        (named,) = (text for text in bench.results() if "effects unknown" in text)
        assert named.startswith("interrupted by the user, effects unknown")


@each_api
async def test_the_file_of_durable_pending_state_and_the_next_program_list_it(
    tmp_path: Path, api: Api
) -> None:
    script: list[Answer] = [Reply([Call("bash", {"command": DEPLOY})]), DONE]
    async with place(tmp_path, api, script) as here:
        async with here.program() as bench:
            await stopped_midway(bench)
            name, file = bench.history.session_id, bench.pending_file
        saved = read_pending(file)
        assert saved and [call.target for call in saved[1].unknown_calls] == [DEPLOY]
        async with here.program(name) as bench:
            assert listed(bench.log.ends[-1]) == [("bash", DEPLOY)]
            assert bench.session.pending and bench.session.pending.unknown_calls == saved[1].unknown_calls
            assert isinstance(await bench.retry(), TurnDone)


def test_a_call_that_the_end_of_the_program_cut_off_is_listed_unless_it_only_reads() -> None:
    events = [
        story.started(1, "go"),
        *story.read(1, "a", "x.py", 3),
        ToolStarted(turn=1, id="b", name="grep_files", arguments={}, target="x"),
        ToolStarted(turn=1, id="c", name="bash", arguments={}, target="make deploy"),
    ]
    ends = endings(unfinished(events), None)
    texts = {end.name: end.result.text for end in ends if isinstance(end, ToolFinished)}
    assert texts["bash"].endswith("effects unknown")
    assert texts["grep_files"].endswith("it changed nothing")
    (end,) = (end for end in ends if isinstance(end, TurnIncomplete))
    assert end.unknown_calls == (UnknownCall(id="c", name="bash", target="make deploy"),)
    again = unfinished([*events, *ends[:-1]])
    assert again.unknown_calls == end.unknown_calls, "the next program knows it too"


def test_the_tools_that_can_change_something_do_not_count_as_reading(tmp_path: Path) -> None:
    names = {spec.name for spec in build_toolbox(tmp_path).specs}
    assert {name for name in names if not own_tool(name).reads} == {
        "bash",
        "edit_file",
        "task_stop",
        "write_file",
    }


def test_a_call_that_was_stopped_while_it_ran_read_only_changed_nothing() -> None:
    stopped = ToolResult(text="", interrupted=True, is_error=True)
    assert stopped.effects_unknown
    assert not ToolResult(text="", interrupted=True, is_error=True, read_only=True).effects_unknown
    assert not ToolResult(text="", interrupted=True, is_error=True, ran=False).effects_unknown


@each_api
async def test_a_fork_at_the_incomplete_turn_shows_it_as_it_was(tmp_path: Path, api: Api) -> None:
    script: list[Answer] = [
        Reply([Say("I deploy."), Call("bash", {"command": DEPLOY})]), CUT, DONE, Reply([Say("Later.")]),
    ]  # fmt: skip
    async with place(tmp_path, api, script) as here, here.program() as bench:
        await stopped_midway(bench)
        await bench.retry()
        assert isinstance(await bench.retry(), TurnDone)
        before = [listed(end) for end in bench.log.ends[:2]]
        assert isinstance(await bench.ask("and then?"), TurnDone)
        events = len(bench.log.events)
        await bench.history.fork(turn=1)
        await bench.log.caught_up()
        after = bench.log.events[events:]
        again = [end for end in after if isinstance(end, TurnDone | TurnIncomplete)]
        assert [listed(end) for end in again[:2]] == before == [[("bash", DEPLOY)]] * 2
        assert isinstance(again[2], TurnDone)
        assert [end.turn for end in again] == [1, 1, 1]


async def test_a_fork_of_work_that_is_pending_keeps_the_picture_and_abandons_the_work(
    tmp_path: Path,
) -> None:
    script: list[Answer] = [Reply([Call("bash", {"command": DEPLOY})]), NoAnswer("stall")]
    async with place(tmp_path, "openai-chat", script) as here, here.program() as bench:
        await stopped_midway(bench)
        events = len(bench.log.events)
        await bench.history.fork()
        await bench.log.caught_up()
        after = bench.log.events[events:]
        ends = [event for event in after if isinstance(event, TurnIncomplete)]
        assert listed(ends[-1]) == [("bash", DEPLOY)]
        assert isinstance([event for event in after if isinstance(event, TurnAbandoned)][-1], TurnAbandoned)


def test_without_a_screen_the_calls_are_named_at_the_end_and_before_the_work_continues() -> None:
    stopped = UnknownCall(id="c", name="bash", target="make deploy")
    end = replace(story.incomplete(1), unknown_calls=(stopped,))
    assert what_is_lost(end, "").endswith("Effects unknown: bash make deploy.")
    assert what_is_lost(end, "20260131").endswith("Effects unknown: bash make deploy.")
    pending = PendingState(calls=2, unknown_calls=(stopped,))
    said = what_is_pending(pending)
    assert said.startswith("The last turn was incomplete; this one continues after its 2 calls.")
    assert said.endswith("Effects unknown: bash make deploy.")
