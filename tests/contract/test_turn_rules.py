"""The rules of a turn that are easy to get wrong, against the scripted server with the real SDK and tools."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import Break, Call, Fail, HttpAnswer, NoAnswer, Refuse, Reply, Say, Seen, Think
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Notice,
    QueueChanged,
    ReasoningDelta,
    RetryScheduled,
    StepRestarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.messages import StopReason, TokenUsage
from keen_tui.domain.permitted import Permitted
from keen_tui.tools.permissions.allowances import Allowances
from tests.support.agent import QUICK_RETRIES, AtWork, Bench
from tests.support.waiting import until_idle

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
DONE = Reply([Say("Done.")])


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


def write(path: str) -> Call:
    return Call("write_file", {"path": path, "content": "x = 1\n"})


def assert_every_start_has_its_finish(bench: Bench) -> None:
    started = [event.id for event in bench.log.of(ToolStarted)]
    assert [event.id for event in bench.log.of(ToolFinished)] == started
    assert len(bench.log.of(ApprovalRequested)) == len(bench.log.of(ApprovalAnswered))
    assert len(bench.log.of(TurnStarted)) == len(bench.log.ends)


async def test_a_cut_step_is_tried_again_and_its_text_withdrawn(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([CUT, NoAnswer("close"), DONE], tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnDone)
        assert end.text == "Done."
        retries = bench.log.of(RetryScheduled)
        assert [(each.reason, each.attempt, each.max_attempts) for each in retries] == [
            ("cut", 2, 4),
            ("network", 3, 4),
        ]
        assert len(bench.log.of(StepRestarted)) == 2
        first, *again = [request.raw for request in bench.server.requests]
        assert again == [first, first]


async def test_attempts_are_counted_a_step(tmp_path: Path, at_work: AtWork) -> None:
    script = [CUT, CUT, Reply([bash("true")]), CUT, CUT, DONE]
    async with at_work(script, tmp_path, retries=RetryPolicy(attempts=3, first_delay=0.001)) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)


async def test_busy_servers_are_waited_for_as_they_ask(tmp_path: Path, at_work: AtWork) -> None:
    busy = HttpAnswer(429, {"error": {"message": "slow down"}}, headers={"retry-after-ms": "30"})
    async with at_work([busy, DONE], tmp_path, retries=RetryPolicy(attempts=2, first_delay=60)) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)
        (retry,) = bench.log.of(RetryScheduled)
        assert retry.delay == pytest.approx(0.03)
        assert "slow down" in retry.detail


async def test_too_long_a_wait_ends_the_turn_and_is_named(tmp_path: Path, at_work: AtWork) -> None:
    busy = HttpAnswer(429, {"error": {"message": "slow down"}}, headers={"retry-after": "400"})
    async with at_work([busy], tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnError)
        assert "400 s" in end.detail


async def test_esc_ends_the_wait_between_attempts(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([CUT], tmp_path, retries=RetryPolicy(attempts=4, first_delay=600)) as bench:
        bench.session.submit("hi")
        await bench.log.wait_for(RetryScheduled)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert end.reason == "interrupted"


async def test_esc_before_the_turn_has_done_anything_still_ends_it(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE], tmp_path) as bench:
        bench.session.submit("hi")
        bench.session.stop()
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert isinstance(await bench.retry(), TurnDone)


async def test_the_server_saying_fail_in_the_stream_is_no_reply(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([Say("Half"), Fail("the model crashed")])]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnError)
        assert "the model crashed" in end.detail


async def test_the_step_limit_keeps_the_work_and_a_retry_counts_anew(tmp_path: Path, at_work: AtWork) -> None:
    step = Reply([bash("echo ran >> counter")])
    async with at_work([step, step, step, DONE], tmp_path, max_steps=2) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnIncomplete)
        assert (end.reason, end.calls) == ("step_limit", 2)
        assert isinstance(await bench.retry(), TurnDone)
        assert (tmp_path / "counter").read_text().count("ran") == 3
        bench.assert_valid_requests()


async def test_an_empty_first_reply_is_done_and_said(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([]), DONE], tmp_path) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnDone)
        assert end.text == ""
        (notice,) = bench.log.of(Notice)
        assert "empty reply" in notice.text
        await bench.ask("again")
        assert bench.messages() == [Seen("user", "hi\n\nagain")]


@pytest.mark.parametrize("empty", [Reply([]), Reply([Say(" \n")]), Reply([Think("hm")])])
async def test_an_empty_reply_after_work_is_incomplete(tmp_path: Path, at_work: AtWork, empty: Reply) -> None:
    async with at_work([Reply([bash("true")]), empty, DONE], tmp_path) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnIncomplete)
        assert end.reason == "empty"
        assert isinstance(await bench.retry(), TurnDone)
        bench.assert_valid_requests()


async def test_an_output_limit_in_text_is_done_and_said(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([Say("As far as I")], finish="length")], tmp_path) as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnDone)
        assert end.reason == "length"
        assert "output limit" in bench.log.of(Notice)[0].text


@pytest.mark.parametrize("arrived", ['{"command": "echo ran >> counter', ""])
async def test_a_call_cut_off_by_the_output_limit_is_answered_and_never_run(
    tmp_path: Path, at_work: AtWork, arrived: str
) -> None:
    cut_call = Call("bash", arrived)
    async with at_work([Reply([cut_call], finish="length"), DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)
        assert not (tmp_path / "counter").exists()
        (text,) = bench.results()
        assert arrived in text, "the error quotes the raw arguments"
        assert "cut off" in text or arrived
        bench.assert_valid_requests()


@pytest.mark.parametrize("finish", ["refusal", "content_filter"])
async def test_refusals_are_done_and_named(tmp_path: Path, at_work: AtWork, finish: str) -> None:
    reply = Reply([Say("No.")], finish="content_filter" if finish == "content_filter" else "refusal")
    async with at_work([reply], tmp_path) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)


@pytest.mark.parametrize("finish", ["refusal", "content_filter"])
async def test_what_a_refused_reply_had_begun_to_call_is_not_run(
    tmp_path: Path, at_work: AtWork, finish: StopReason
) -> None:
    reply = Reply([Refuse("No."), bash("echo ran >> counter")], finish=finish)
    async with at_work([reply, DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)
        assert not (tmp_path / "counter").exists()
        assert isinstance(await bench.ask("again"), TurnDone)
        bench.assert_valid_requests()


async def test_a_denial_is_an_error_result_and_the_rest_of_the_batch_still_asks(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = [Reply([write("a.py"), write("b.py")]), DONE]
    async with at_work(script, tmp_path, mode="ask") as bench:
        bench.session.submit("write both")
        first = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(first.id, allow=False, message="not this one")
        second = await bench.log.wait_for(ApprovalRequested, 2)
        bench.session.answer(second.id, allow=True)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone)
        assert end.turn_memory.files_changed == ("b.py",)
        assert not (tmp_path / "a.py").exists()
        assert "not this one" in bench.results()[0]
        denied = await bench.log.wait_for(ToolFinished)
        assert denied.result.summary == "denied: not this one"
        assert_every_start_has_its_finish(bench)


async def test_allowing_a_kind_for_the_session_asks_no_more(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([write("a.py"), write("b.py")]), DONE]
    async with at_work(script, tmp_path, mode="ask") as bench:
        bench.session.submit("write both")
        first = await bench.log.wait_for(ApprovalRequested)
        assert first.grant
        bench.session.answer(first.id, allow=True, scope="session")
        await bench.log.wait_for_end()
        assert len(bench.log.of(ApprovalRequested)) == 1
        assert (tmp_path / "b.py").exists()


async def test_what_is_allowed_for_good_is_asked_about_once_in_this_folder_and_never_again(
    tmp_path: Path, at_work: AtWork
) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    script = [Reply([bash("touch a")]), DONE]

    async def asked() -> list[ApprovalRequested]:
        allowances = Allowances(tmp_path / "allowances.json", workspace)
        async with at_work(script, workspace, mode="ask", allowances=allowances) as bench:
            bench.session.submit("go")
            await bench.log.wait_for(ToolFinished if allowances.commands else ApprovalRequested)
            for event in bench.log.of(ApprovalRequested):
                bench.session.answer(event.id, allow=True, scope="workspace")
            await bench.log.wait_for_end()
            assert all(event.saved == ("touch a",) for event in bench.log.of(ApprovalAnswered))
            return bench.log.of(ApprovalRequested)

    assert [event.saves for event in await asked()] == [("touch a",)]
    assert await asked() == []


async def test_what_was_allowed_can_be_seen_and_taken_back(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([bash("touch a"), write("b.py"), bash("touch a")]), DONE]
    allowances = Allowances(tmp_path / "home" / "allowances.json", tmp_path)
    async with at_work(script, tmp_path, mode="ask", allowances=allowances) as bench:
        bench.session.submit("go")
        first = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(first.id, allow=True, scope="workspace")
        second = await bench.log.wait_for(ApprovalRequested, 2)
        assert bench.session.permitted == Permitted(saved=("touch a",))
        await bench.session.take_back("touch a")
        bench.session.answer(second.id, allow=True, scope="session")
        third = await bench.log.wait_for(ApprovalRequested, 3)
        assert bench.session.permitted == Permitted(session=("all edits in this workspace",))
        bench.session.answer(third.id, allow=False)
        await bench.log.wait_for_end()
        with pytest.raises(SessionRefused):
            await bench.session.take_back("touch a")
    assert Allowances(tmp_path / "home" / "allowances.json", tmp_path).commands == ()


async def test_an_answer_to_a_closed_question_is_refused(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE], tmp_path) as bench:
        with pytest.raises(SessionRefused):
            bench.session.answer("nothing", allow=True)


async def test_a_denied_call_counts_as_answered_when_the_turn_breaks_later(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([Reply([write("a.py")]), CUT], tmp_path, mode="plan") as bench:
        end = await bench.ask("hi")
        assert isinstance(end, TurnIncomplete)
        assert end.calls == 1
        assert not end.turn_memory, "a denied call has no fact"


async def test_a_person_sees_what_refused_a_call(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([write("a.py")]), DONE], tmp_path, mode="plan") as bench:
        await bench.ask("hi")
        assert bench.log.of(ToolFinished)[0].result.summary == "not in plan mode"


async def test_without_a_person_what_would_ask_is_denied_and_the_flag_is_named(
    tmp_path: Path, at_work: AtWork
) -> None:
    script = [Reply([write("a.py"), bash("touch b.py")]), DONE]
    async with at_work(script, tmp_path, mode="ask", attended=False) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)
        denied = bench.log.of(ApprovalAnswered)
        assert [each.by for each in denied] == ["headless", "headless"]
        assert "--mode auto-edit" in denied[0].message
        assert "--mode auto" in bench.results()[1]


async def test_esc_during_a_later_approval_keeps_what_ran(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "a.py").write_text("one\n")
    script = [Reply([Call("read_file", {"path": "a.py"}), write("b.py")]), DONE]
    async with at_work(script, tmp_path, mode="ask") as bench:
        bench.session.submit("hi")
        await bench.log.wait_for(ApprovalRequested)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert end.calls == 1
        assert bench.log.of(ApprovalAnswered)[0].by == "stop"
        await bench.retry()
        assert bench.results()[1] == "not run: the turn was interrupted"
        assert_every_start_has_its_finish(bench)


async def test_unknown_tools_and_broken_arguments_are_error_results(tmp_path: Path, at_work: AtWork) -> None:
    calls = [Call("no_such_tool", {}), Call("bash", "{broken"), Call("bash", "[1]"), Call("bash", {"x": 1})]
    async with at_work([Reply(calls), DONE], tmp_path) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)
        assert all(event.result.is_error for event in bench.log.of(ToolFinished))
        assert "read_file" in bench.results()[0], "the known tools are listed"
        bench.assert_valid_requests()
        assert_every_start_has_its_finish(bench)


async def test_missing_and_repeated_ids_run_once_each(tmp_path: Path, at_work: AtWork) -> None:
    def count(id: str) -> Call:
        return Call("bash", {"command": "echo ran >> counter"}, id=id)

    script = [Reply([count("call_0"), count("call_0"), count("")]), Reply([count("call_0")]), DONE]
    async with at_work(script, tmp_path) as bench:
        assert isinstance(await bench.ask("hi"), TurnDone)
        assert (tmp_path / "counter").read_text().count("ran") == 4
        bench.assert_valid_requests()


async def test_messages_sent_meanwhile_wait_and_go_after_done(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([bash("true")]), CUT, DONE, Reply([Say("Second.")]), Reply([Say("Third.")])]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("first")
        bench.session.submit("second")
        bench.session.submit("third")
        assert bench.session.queue == ("second", "third")
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        assert bench.session.queue == ("second", "third"), "the queue waits through Incomplete"
        bench.session.retry()
        await bench.log.wait_for_end(4)
        assert [event.text for event in bench.log.of(TurnStarted)] == ["first", None, "second", "third"]
        assert bench.log.of(QueueChanged)[-1].texts == ()


async def test_a_queued_message_can_be_taken_back(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE], tmp_path) as bench:
        bench.session.submit("first")
        bench.session.submit("second")
        assert bench.session.withdraw_queued() == "second"
        assert bench.session.withdraw_queued() is None
        await until_idle(bench.session)
        assert len(bench.server.requests) == 1


async def test_retry_and_discard_are_refused_while_a_turn_runs(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([Say("x")], broken=Break("stall", after_deltas=1))], tmp_path) as bench:
        with pytest.raises(SessionRefused, match="Nothing to retry"):
            bench.session.retry()
        with pytest.raises(SessionRefused, match="Nothing to discard"):
            bench.session.discard()
        bench.session.submit("hi")
        for action in (bench.session.retry, bench.session.discard):
            with pytest.raises(SessionRefused, match="running"):
                action()


async def test_leaving_stops_the_turn_and_waits_for_its_end(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([bash("sleep 600")])], tmp_path) as bench:
        bench.session.submit("hi")
        await bench.log.wait_for(ToolStarted)
        await bench.session.close()
        assert len(bench.log.ends) == 1


async def test_a_crashed_and_a_sleeping_reader_do_not_harm_the_turn(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([bash("true")]), DONE], tmp_path) as bench:
        sleeping = bench.session.bus.subscribe()

        async def crash() -> None:
            async for _ in bench.session.bus.subscribe():
                raise RuntimeError("a bug in a widget")

        crashed = asyncio.create_task(crash())
        assert isinstance(await bench.ask("hi"), TurnDone)
        assert isinstance(crashed.exception(), RuntimeError)
        sleeping.close()
        seen = [event async for batch in sleeping for event in batch]
        assert any(isinstance(event, TurnDone) for event in seen)


async def test_a_turn_that_a_bug_ends_has_its_end_and_the_session_goes_on(
    tmp_path: Path, at_work: AtWork
) -> None:
    broken = False

    def clock() -> float:
        if broken:
            raise RuntimeError("the clock stands")
        return 1.0

    async with at_work([DONE, DONE], tmp_path, clock=clock) as bench:
        bench.session.submit("hi")
        broken = True
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError) and end.reason == "internal"
        assert not bench.session.running
        broken = False
        assert isinstance(await bench.retry(), TurnDone)


async def test_reasoning_and_usage_are_told(tmp_path: Path, at_work: AtWork) -> None:
    usage = TokenUsage(input_tokens=120, output_tokens=30)
    async with at_work([Reply([Think("Let me see."), Say("Hi.")], usage=usage)], tmp_path) as bench:
        await bench.ask("hi")
        assert "".join(event.text for event in bench.log.of(ReasoningDelta)) == "Let me see."
        assert "".join(event.text for event in bench.log.of(TextDelta)) == "Hi."
        (told,) = bench.log.of(Usage)
        assert (told.tokens.input_tokens, told.tokens.output_tokens) == (120, 30)


async def test_reasoning_is_echoed_inside_the_turn_and_gone_after_it(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([Think("secret plan"), bash("true")]), DONE, DONE]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("hi")
        assert "secret plan" in json.dumps(bench.messages()[1].thought)
        await bench.ask("again")
        assert "secret plan" not in bench.server.requests[-1].raw.decode()
