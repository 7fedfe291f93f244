"""How long a turn took, and who ended it: all attempts count, and no time in which the person was asked."""

from __future__ import annotations

from pathlib import Path

from keen_tui.demo.script import Answer, Break, Call, NoAnswer, RecordedRequest, Reply, Say
from keen_tui.domain.errors import PROGRAM_ENDED, STOPPED
from keen_tui.domain.events import (
    ApprovalRequested,
    QuestionAsked,
    ToolFinished,
    ToolOutput,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from tests.support.agent import AtWork

READ = Call("read_file", {"path": "a.txt"})
WRITE = Call("write_file", {"path": "b.txt", "content": "x\n"})
ASK = Call("ask_user", {"question": "Which?", "choices": ["this", "that"]})
SLEEP = Call("bash", {"command": "echo begun; sleep 60"})
OK = Reply([Say("Ok.")])
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))


class Clock:
    """Goes on by a minute with each request, and otherwise only when it is told to."""

    def __init__(self, *answers: Answer) -> None:
        self.now = 1_000.0
        self._answers = list(answers)

    def __call__(self) -> float:
        return self.now

    def answer(self, _: RecordedRequest) -> Answer:
        self.now += 60.0
        return self._answers.pop(0)


async def test_the_time_of_a_turn_never_goes_back_over_several_breaks(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    clock = Clock(CUT, NoAnswer(), Reply([READ]), CUT, NoAnswer(), CUT, OK, OK)
    async with at_work(clock.answer, tmp_path, clock=clock) as bench:
        await bench.ask("go")
        for _ in range(5):
            await bench.retry()
        ends = bench.log.ends
        assert [type(end) for end in ends] == [TurnError] * 2 + [TurnIncomplete] * 3 + [TurnDone]
        assert [end.seconds for end in ends] == [60, 120, 240, 300, 360, 420]
        assert (await bench.ask("and now?")).seconds == 60


async def test_a_session_that_goes_on_counts_the_attempts_before(tmp_path: Path, at_work: AtWork) -> None:
    clock = Clock(CUT, CUT, OK)
    async with at_work(clock.answer, tmp_path, clock=clock) as bench:
        await bench.ask("go")
        await bench.retry()
        bench.session.open("again", "", list(bench.log.events))
        await bench.log.caught_up()
        assert (await bench.retry()).seconds == 180


async def test_time_in_which_the_person_is_asked_does_not_count(tmp_path: Path, at_work: AtWork) -> None:
    clock = Clock(Reply([WRITE]), Reply([ASK]), OK)
    async with at_work(clock.answer, tmp_path, clock=clock, mode="ask") as bench:
        bench.session.submit("go")
        approval = await bench.log.wait_for(ApprovalRequested)
        clock.now += 3_600.0
        bench.session.answer(approval.id, allow=True)
        question = await bench.log.wait_for(QuestionAsked)
        clock.now += 3_600.0
        bench.session.reply(question.id, 0)
        assert (await bench.log.wait_for_end()).seconds == 180
        assert [event.seconds for event in bench.log.of(ToolFinished)] == [0, 0]


async def test_what_the_end_of_the_program_interrupts_is_not_called_stopped_by_the_user(
    tmp_path: Path, at_work: AtWork
) -> None:
    for call, begun, kind in ((SLEEP, ToolOutput, TurnIncomplete), (ASK, QuestionAsked, TurnError)):
        async with at_work([Reply([call])], tmp_path) as bench:
            bench.session.submit("go")
            await bench.log.wait_for(begun)
            await bench.session.close()
            end = await bench.log.wait_for_end()
            assert isinstance(end, kind)
            assert end.detail == PROGRAM_ENDED
            assert "by the user" not in bench.log.of(ToolFinished)[0].result.text


async def test_what_the_user_stops_is_called_so_also_where_the_program_ends_behind_it(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([Reply([SLEEP])], tmp_path) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ToolOutput)
        bench.session.stop()
        await bench.session.close()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete | TurnError)
        assert end.detail == STOPPED
