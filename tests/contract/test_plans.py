"""Plan mode ends with a plan that the person accepts, and by nothing that the model says."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import (
    ApprovalRequested,
    ModeChanged,
    QuestionAsked,
    ToolFinished,
    TurnDone,
    TurnError,
)
from keen_tui.domain.messages import TurnMemory
from tests.support.agent import AtWork, Bench

PLAN = "# Move the tax\n\n1. `cart.py`: **tax** last\x1b[2J\n"
PROPOSE = Call("propose_plan", {"plan": PLAN})
WRITE = Call("write_file", {"path": "a.py", "content": "x\n"})
OK = Reply([Say("Ok.")])


async def proposed(bench: Bench) -> QuestionAsked:
    bench.session.submit("go")
    return await bench.log.wait_for(QuestionAsked)


@pytest.mark.parametrize(("choice", "mode"), [(0, "auto-edit"), (1, "ask")])
async def test_accepting_switches_the_mode_and_the_turn_goes_on(
    tmp_path: Path, at_work: AtWork, choice: int, mode: Mode
) -> None:
    async with at_work(
        [Reply([WRITE]), Reply([PROPOSE]), Reply([WRITE]), OK], tmp_path, mode="plan"
    ) as bench:
        question = await proposed(bench)
        assert question.body == PLAN.replace("\x1b[2J", "").strip()
        assert not (tmp_path / "a.py").exists()
        bench.session.reply(question.id, choice)
        if mode == "ask":
            asked = await bench.log.wait_for(ApprovalRequested)
            bench.session.answer(asked.id, allow=True)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(files_changed=("a.py",))
        assert (bench.session.mode, [event.mode for event in bench.log.of(ModeChanged)]) == (mode, [mode])
        assert "propose it with propose_plan" in bench.results()[0]
        assert bench.results()[1] == (
            f"The user accepts the plan. From now on the mode is {mode}: carry it out."
        )
        plan = bench.log.of(ToolFinished)[1]
        assert (plan.target, plan.result.summary) == ("Move the tax", f"accepted: {mode}")
        bench.assert_valid_requests()


@pytest.mark.parametrize(
    ("choice", "words", "told"),
    [(2, "no new file", "The user wants the plan changed: no new file"), (None, "", "does not accept")],
    ids=["words", "declined"],
)
async def test_what_is_not_accepted_stays_a_plan(
    tmp_path: Path, at_work: AtWork, choice: int | None, words: str, told: str
) -> None:
    async with at_work([Reply([PROPOSE]), Reply([WRITE]), OK], tmp_path, mode="plan") as bench:
        question = await proposed(bench)
        bench.session.reply(question.id, choice, words)
        await bench.log.wait_for_end()
        assert told in bench.results()[0]
        assert bench.log.of(ToolFinished)[0].result.outcome == "denied", "no tick"
        assert bench.results()[1].startswith("Refused: plan mode is on")
        assert bench.session.mode == "plan"
        assert not (tmp_path / "a.py").exists()


async def test_a_stop_accepts_nothing(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([PROPOSE])], tmp_path, mode="plan") as bench:
        await proposed(bench)
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(), TurnError)
        assert bench.session.mode == "plan"


async def test_without_a_person_no_plan_is_accepted(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([PROPOSE]), Reply([WRITE]), OK]
    async with at_work(script, tmp_path, mode="plan", attended=False) as bench:
        await bench.ask("go")
        assert bench.results()[0].startswith("There is nobody to ask about the plan")
        assert not (tmp_path / "a.py").exists()
        assert not bench.log.of(ModeChanged)


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "auto"])
async def test_in_other_modes_there_is_nothing_to_accept(tmp_path: Path, at_work: AtWork, mode: Mode) -> None:
    async with at_work([Reply([PROPOSE]), OK], tmp_path, mode=mode) as bench:
        await bench.ask("go")
        assert bench.results()[0].startswith("Error: This isn't plan mode")
        assert not bench.log.of(QuestionAsked)
        assert bench.session.mode == mode


async def test_the_model_is_told_of_plan_mode_once_a_turn_and_by_no_prompt(
    tmp_path: Path, at_work: AtWork
) -> None:
    read = Call("glob_files", {"pattern": "*"})
    script = [Reply([read]), Reply([read]), OK, Reply([read]), OK, Reply([read]), OK]
    async with at_work(script, tmp_path, mode="plan") as bench:
        await bench.ask("u1")
        assert ["plan mode is on" in text for text in bench.results()] == [True, False]
        await bench.ask("u2")
        assert ["plan mode is on" in text for text in bench.results()] == [True]
        bench.session.set_mode("ask")
        await bench.ask("u3")
        assert "plan mode" not in "".join(bench.results())
        assert bench.system(0) == bench.system(-1)
