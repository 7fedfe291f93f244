"""Messages handed in while a turn runs (turn.md rule 15), at the level of the wire, on every API."""

from __future__ import annotations

import asyncio
from pathlib import Path

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.demo.script import Answer, Break, Call, Reply, Say, Seen
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import (
    QueueChanged,
    SessionRestored,
    Steered,
    TextDelta,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.storage.lookup.sessions import SessionStore
from tests.support.agent import AtWork, Bench
from tests.support.saving import all_found
from tests.support.waiting import LIMIT

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
WAIT = Call("bash", {"command": "until [ -e gate ]; do sleep 0.02; done; echo waited"})
WRITE = Call("write_file", {"path": "a.py", "content": "x = 1\n"})


def user(text: str) -> Seen:
    return Seen("user", text)


def assistant(text: str) -> Seen:
    return Seen("assistant", text)


async def during_the_call(bench: Bench, folder: Path, *texts: str, ask: str | None = "begin") -> None:
    """Begin a turn and hand the texts in while its waiting command runs; then let that end."""
    begun = len(bench.log.of(ToolStarted))
    (folder / "gate").unlink(missing_ok=True)
    if ask:
        bench.session.submit(ask)
    await bench.log.wait_for(ToolStarted, begun + 1)
    for text in texts:
        bench.session.steer(text)
    (folder / "gate").touch()


async def test_it_stands_behind_the_results_and_then_before_the_reply(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([WAIT]), Reply([Say("Both done.")]), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path) as bench:
        await during_the_call(bench, tmp_path, "mind the tests", "and the docs")
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone)
        assert bench.lines() == [
            "user: begin",
            f'call: bash {{"command": "{WAIT.arguments["command"]}"}}',  # type: ignore[index]
            "result: waited",
            "user: mind the tests\n\nand the docs",
        ]
        await bench.ask("sure?")
        assert bench.messages() == [
            user("begin\n\nmind the tests\n\nand the docs"),
            assistant("Both done."),
            user("sure?"),
        ]
        titles = {part.turn: part.label for part in (await bench.session.context()).parts if part.turn == 1}
        assert titles == {1: "begin"}, "the turn is named by what began it"
        steered = [(event.turn, event.step, event.text) for event in bench.log.of(Steered)]
        assert steered == [(1, 1, "mind the tests"), (1, 1, "and the docs")]
        bench.assert_valid_requests()


async def test_at_incomplete_it_stays_in_the_trace_and_is_not_said_twice(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([WAIT]), CUT, CUT, Reply([Say("Recovered.")]), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path) as bench:
        await during_the_call(bench, tmp_path, "mind the tests")
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        assert [message.text for message in bench.session.conversation] == ["begin"]
        assert isinstance(await bench.retry(), TurnIncomplete)
        bench.session.submit("go on then")
        assert isinstance(await bench.log.wait_for_end(3), TurnDone)
        assert bench.lines()[2:] == ["result: waited", "user: mind the tests\n\ngo on then"]
        texts = [message.text for message in bench.session.conversation]
        assert texts == ["begin", "mind the tests", "go on then", "Recovered."]
        await bench.ask("sure?")
        assert bench.messages()[0] == user("begin\n\nmind the tests\n\ngo on then")
        bench.assert_valid_requests()


async def test_at_discard_it_stands_before_the_abandoned_turn(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([WRITE, WAIT]), CUT, Reply([Say("Yes.")])]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(ToolStarted, 2)
        bench.session.steer("mind the tests")
        (tmp_path / "gate").touch()
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        bench.session.discard()
        await bench.log.wait_for(TurnAbandoned)
        await bench.ask("next")
        assert bench.messages() == [
            user("begin\n\nmind the tests"),
            assistant("(turn abandoned)\n\nTool memory:\n- Files changed: a.py"),
            user("next"),
        ]
        bench.assert_valid_requests()


async def test_without_a_boundary_it_queues_before_what_was_queued(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [
        Reply([Say("A long reply that calls nothing.")], broken=Break("stall", after_deltas=1)),
        Reply([Say("First.")]),
        Reply([Say("Second.")]),
        Reply([Say("Third.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(TextDelta)
        bench.session.submit("queued")
        bench.session.steer("handed in")
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(), TurnError)
        assert bench.session.queue == ("handed in", "queued"), "they wait through an error"
        await bench.server.wait_until_idle()
        await bench.retry()
        await bench.log.wait_for_end(4)
        texts = [event.text for event in bench.log.of(TurnStarted) if event.text is not None]
        assert texts == ["begin", "handed in", "queued"]
        assert not bench.session.queue
        bench.assert_valid_requests()


async def test_the_oldest_queued_message_can_be_handed_in_and_the_newest_withdrawn(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([WAIT]), Reply([Say("Done.")])]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(ToolStarted)
        for text in ("one", "two", "three"):
            bench.session.submit(text)
        bench.session.steer()
        assert bench.session.withdraw_queued() == "three"
        assert bench.session.withdraw_queued() == "two"
        bench.session.steer("four")
        assert bench.session.withdraw_queued() == "four", "what is steered comes back too"
        assert not bench.session.queue
        (tmp_path / "gate").touch()
        await bench.log.wait_for_end()
        assert [event.text for event in bench.log.of(Steered)] == ["one"]
        told = [(event.texts, event.steered) for event in bench.log.of(QueueChanged)]
        assert told[-2:] == [((), ("one",)), ((), ())]


async def test_while_nothing_runs_it_is_sent(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([Say("Hi.")])], tmp_path) as bench:
        bench.session.steer()
        bench.session.steer("hello")
        assert isinstance(await bench.log.wait_for_end(), TurnDone)
        assert bench.messages() == [user("hello")]


async def test_after_a_turn_that_was_not_done_the_oldest_queued_message_begins_the_next_one(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([WAIT]), Reply([Say("One.")]), Reply([Say("Two.")])]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(ToolStarted)
        for text in ("one", "two"):
            bench.session.submit(text)
        bench.session.stop()
        bench.session.steer()
        assert not isinstance(await bench.log.wait_for_end(), TurnDone)
        assert list(bench.session.queue) == ["one", "two"], "nothing is sent while the turn stops"
        bench.session.steer()
        assert list(bench.session.queue) == ["two"]
        await bench.log.wait_for_end(3)
        assert [event.text for event in bench.log.of(TurnStarted)] == ["begin", "one", "two"]
        bench.assert_valid_requests()


async def test_under_every_policy_later_requests_hold_it_once(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script: list[Answer] = [Reply([WAIT]), Reply([Say("Done.")]), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await during_the_call(bench, tmp_path, "mind the tests")
        await bench.log.wait_for_end()
        await bench.ask("sure?")
        lines = bench.lines()
        assert sum("mind the tests" in line for line in lines) == 1
        assert sum(line.startswith("call: bash") for line in lines) == (policy == "full-trace")
        bench.assert_valid_requests()


async def test_a_saved_session_knows_it(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([WAIT]), Reply([Say("Done.")]), Reply([Say("Yes.")]), Reply([Say("Yes.")])]
    store = SessionStore(tmp_path / "data")
    work = tmp_path / "work"
    work.mkdir()
    async with at_work(script, work) as bench:
        manager = SessionManager(bench.session, store, TurnBackup())
        await manager.begin()
        await during_the_call(bench, work, "mind the tests")
        await bench.log.wait_for_end()
        await bench.ask("sure?")
        before, conversation, saved = bench.messages(), bench.session.conversation, manager.session_id
        await manager.new()
        await manager.open(saved)
        await bench.log.wait_for(SessionRestored)
        assert bench.session.conversation == conversation
        assert [event.text for event in bench.log.of(Steered)] == ["mind the tests"] * 2
        await bench.ask("sure?")
        assert bench.messages()[: len(before)] == before
        assert await all_found(manager, "mind the tests")
        await asyncio.wait_for(manager.close(), LIMIT)
