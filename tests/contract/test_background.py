"""Commands in the background: what their calls return, what the model is told later, how they end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keen_tui.agent.services.task_service import TaskService
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalRequested,
    BackgroundChanged,
    Notice,
    NoticeOver,
    ToolFinished,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.tools.builtin import bash
from tests.support.agent import Bench, at_work
from tests.support.waiting import LIMIT, until

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
DONE = Reply([Say("Done.")])
SERVER = "echo ready; while ! test -e go; do sleep 0.05; done; echo going; exit 3"


def start(command: str) -> Call:
    return Call("bash", {"command": command, "background": True})


def output(id: str = "t1", **given: int) -> Call:
    return Call("task_output", {"id": id, **given})


async def pid_in(file: Path) -> str:
    """The number that a command writes there."""
    await until(lambda: file.exists() and file.read_text().endswith("\n"))
    return file.read_text().strip()


async def until_gone(pid: str) -> None:
    await until(lambda: not Path(f"/proc/{pid}").exists())


async def until_ended(bench: Bench) -> None:
    await until(lambda: any(notice.text.startswith("In the background: ") for notice in bench.log.of(Notice)))


async def test_the_call_returns_while_the_command_goes_on(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start(SERVER)]), DONE, Reply([output()]), DONE]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("serve")
        assert isinstance(end, TurnDone) and not end.turn_memory
        assert "[it runs in the background as t1" in bench.results()[0]
        await until(lambda: bench.session.tasks.find("t1").output.last_line == "ready")
        await bench.ask("look")
        (shown,) = bench.results()
        assert shown.startswith("[t1 running for ") and "ready\n[since=6" in shown
        bench.assert_valid_requests()


async def test_a_later_turn_is_told_that_it_runs_and_of_its_end(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start(SERVER)]), DONE, DONE, DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        await bench.ask("and now?")
        assert "t1 running for" in bench.messages()[-1].text
        assert "since turn 1: echo ready" in bench.messages()[-1].text
        (tmp_path / "go").touch()
        await until_ended(bench)
        assert bench.log.of(Notice)[0].text.startswith("In the background: t1 ended after ")
        end = await bench.ask("more")
        assert "exit code 3: echo ready" in bench.messages()[-1].text
        assert [failed.exit_code for failed in end.turn_memory.failed_bash] == [3]
        await bench.ask("again")
        assert bench.messages()[-1].text == "again"
        assert not any("Commands in the background" in message.text for message in bench.messages())
        bench.assert_valid_requests()


async def test_front_ends_are_told_what_runs_and_what_it_printed(tmp_path: Path) -> None:
    async with at_work([Reply([start(SERVER)]), DONE], tmp_path) as bench:
        await bench.ask("serve")
        told = bench.log.of(BackgroundChanged)
        assert [task.id for task in told[0].tasks] == ["t1"]
        await until(lambda: bench.log.of(BackgroundChanged)[-1].tasks[0].last_line == "ready")
        (tmp_path / "go").touch()
        await until(lambda: not bench.log.of(BackgroundChanged)[-1].tasks)


async def test_in_plan_mode_the_user_is_told_what_goes_on(tmp_path: Path) -> None:
    async with at_work([Reply([start(SERVER)]), DONE], tmp_path) as bench:
        bench.session.set_mode("plan")
        bench.session.set_mode("auto")
        await bench.ask("serve")
        bench.session.set_mode("plan")
        told = await bench.log.wait_for(Notice)
        assert told.text == "A command is still running in the background (t1); /tasks stop ID ends one."
        assert bench.session.tasks.running
        (tmp_path / "go").touch()
        assert await bench.log.wait_for(NoticeOver) == NoticeOver(text=told.text)


async def test_an_end_between_turns_belongs_to_the_newest_turn(tmp_path: Path) -> None:
    async with at_work([Reply([start(SERVER)]), DONE], tmp_path) as bench:
        await bench.ask("serve")
        (tmp_path / "go").touch()
        await until_ended(bench)
        (told,) = bench.log.of(Notice)
        assert told.turn == 1, "a notice without a turn would be gone with the next key"


async def test_an_end_in_the_middle_of_a_turn_is_told_before_the_next_step(tmp_path: Path) -> None:
    wait = Call("bash", {"command": "touch go; while ! test -e gone; do sleep 0.05; done"})
    script: list[Answer] = [Reply([start(f"{SERVER[:-8]}; touch gone")]), Reply([wait]), Reply([wait]), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        await until_ended(bench)
        told = [message.text for message in bench.messages() if "Commands in the background" in message.text]
        assert len(told) == 1 and "exit code 0" in told[0]


async def test_24_a_step_that_is_cut_has_told_nothing(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start(SERVER)]), DONE, CUT, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        (tmp_path / "go").touch()
        await until_ended(bench)
        await bench.ask("more")
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert bench.messages()[-1].text.count("exit code 3") == 1
        assert [failed.exit_code for failed in end.turn_memory.failed_bash] == [3]
        assert [task.id for task in bench.session.tasks.all] == ["t1"]


async def test_a_retry_starts_none_twice(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("echo once >> starts; sleep 600")]), CUT, DONE]
    async with at_work(script, tmp_path) as bench:
        assert isinstance(await bench.ask("serve"), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnDone)
        await until((tmp_path / "starts").exists)
        assert (tmp_path / "starts").read_text() == "once\n"
        assert [task.id for task in bench.session.tasks.running] == ["t1"]


async def test_a_command_that_ends_at_once_is_a_command_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bash, "FIRST_LOOK", LIMIT)
    script: list[Answer] = [Reply([start("echo no; exit 4")]), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("serve")
        assert bench.results()[0].startswith("no\n[it ended after ")
        assert bench.results()[0].endswith(", exit code 4]")
        assert [failed.exit_code for failed in end.turn_memory.failed_bash] == [4]
        await bench.ask("more")
        assert bench.messages()[-1].text == "more"


async def test_task_stop_ends_it_with_its_processes(tmp_path: Path) -> None:
    stop = Call("task_stop", {"id": "t1"})
    command = "trap 'echo bye; exit 0' TERM; sleep 600 & echo $! > pid; wait"
    script: list[Answer] = [Reply([start(command)]), DONE, Reply([stop]), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        pid = await pid_in(tmp_path / "pid")
        await bench.ask("stop")
        assert bench.results()[0].startswith("[t1 stopped after ")
        assert "bye" in bench.results()[0]
        await until_gone(pid)
        assert not bench.session.tasks.running


async def test_it_goes_on_in_another_session_which_is_told(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("sleep 600")]), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        bench.session.open("other", "", ())
        await bench.ask("what runs?")
        assert "since before this session: sleep 600" in bench.messages()[-1].text


async def test_the_person_stops_one_and_the_model_is_told(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("sleep 600")]), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        service = TaskService(bench.session.tasks)
        assert [(task.id, task.running) for task in service.tasks()] == [("t1", True)]
        assert (await service.stop("t1")).startswith("t1 stopped after")
        with pytest.raises(SessionRefused, match="There is no command 't2'"):
            await service.stop("t2")
        await bench.ask("more")
        assert "t1 stopped after" in bench.messages()[-1].text


async def test_esc_in_the_first_second_ends_it(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("touch begun; sleep 600")]), DONE]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("serve")
        await until((tmp_path / "begun").exists)
        bench.session.stop()
        await bench.log.wait_for_end()
        assert not bench.session.tasks.running


async def test_the_question_says_that_it_goes_on(tmp_path: Path) -> None:
    async with at_work([Reply([start("touch x; sleep 600")]), DONE], tmp_path, mode="ask") as bench:
        bench.session.submit("serve")
        asked = await bench.log.wait_for(ApprovalRequested)
        assert asked.question == "Run this command in the background?"
        bench.session.answer(asked.id, allow=False)
        await bench.log.wait_for_end()
        assert not bench.session.tasks.all


async def test_all_end_with_the_session(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("trap '' TERM; echo $$ > pid; while :; do sleep 1; done")]), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        pid = await pid_in(tmp_path / "pid")
        assert Path(f"/proc/{pid}").exists()
    await until_gone(pid)


async def test_a_flood_stays_in_bounds_and_its_end_is_shown(tmp_path: Path) -> None:
    flood = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; sleep 600"
    script: list[Answer] = [Reply([start(flood)]), DONE, Reply([output()]), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        await until(lambda: bench.session.tasks.find("t1").output.last_line == "last")
        await bench.ask("look")
        (shown,) = bench.results()
        assert len(shown) < 20_000
        assert "bytes left out" in shown and "\nlast\n" in shown


async def test_waiting_for_the_end(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("sleep 1.5; echo there")]), Reply([output(wait=60)]), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        assert "exit code 0" in bench.results()[1] and "there" in bench.results()[1]
        await bench.ask("more")
        assert bench.messages()[-1].text == "more", "the model knows already"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (output("t9"), "there is no command 't9' in the background. There are: none."),
        (output("t1", wait=61), "wait from 0 to 60"),
        (Call("task_stop", {"id": "\x1b[2J"}), "there is no command"),
    ],
)
async def test_wrong_arguments_get_a_sentence(tmp_path: Path, call: Call, said: str) -> None:
    async with at_work([Reply([call]), DONE], tmp_path) as bench:
        await bench.ask("look")
        assert said in bench.results()[0]
        assert bench.log.of(ToolFinished)[0].result.is_error
        assert "\x1b" not in bench.results()[0]


async def test_only_so_many_run_at_once(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([start("sleep 600")] * 17), DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("serve")
        assert "at most 16 commands can run in the background" in bench.results()[-1]
        await asyncio.gather(*(task.stop() for task in bench.session.tasks.running))
        assert not bench.session.tasks.running
