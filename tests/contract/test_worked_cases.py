"""The worked cases of the design, at the level of the wire: what the next HTTP request holds.

Numbers are those of the table "Worked cases" in docs/turn.md.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, NoAnswer, Reply, Say, Seen, Think
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalRequested,
    MessageTakenBack,
    ModelChanged,
    TextDelta,
    ToolFinished,
    ToolOutput,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.models import ModelInfo
from keen_tui.memory.conversation import COMPACTED
from keen_tui.providers.registry import APIS
from keen_tui.providers.wire.provider import Provider
from tests.support import agent
from tests.support.agent import QUICK_RETRIES, AtWork, Bench, provider_for
from tests.support.waiting import until

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


def write(path: str, content: str = "x = 1\n") -> Call:
    return Call("write_file", {"path": path, "content": content})


def user(text: str) -> Seen:
    return Seen("user", text)


def assistant(text: str) -> Seen:
    return Seen("assistant", text)


def roles(messages: list[Seen]) -> str:
    return " ".join(message.role for message in messages)


def runs(workspace: Path) -> int:
    """How often the counting command ran."""
    counter = workspace / "counter"
    return counter.read_text().count("ran") if counter.exists() else 0


COUNT = bash("echo ran >> counter")


async def test_01_later_requests_carry_outcomes_only(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    script: list[Answer] = [
        Reply([Call("read_file", {"path": "a.py"})]),
        Reply([Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "1"})]),
        Reply([Call("edit_file", {"path": "a.py", "old_text": "two", "new_text": "2"})]),
        Reply([write("b.py")]),
        Reply([bash("exit 1")]),
        Reply([Say("All done.")]),
        Reply([Say("Yes.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("change a and b")
        await bench.ask("sure?")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(
            files_changed=("a.py", "b.py"), failed_bash=(CommandFailed(command="exit 1", exit_code=1),)
        )
        block = "Tool memory:\n- Files changed: a.py, b.py\n- Failed bash: exit 1 (exit 1)"
        assert bench.messages() == [
            user("change a and b"),
            assistant(f"All done.\n\n{block}"),
            user("sure?"),
        ]


async def test_02_a_turn_that_only_read_leaves_text_alone(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "a.py").write_text("one\n")
    script: list[Answer] = [
        Reply([Say("I look."), Call("read_file", {"path": "a.py"})]),
        Reply([Say("It says one.")]),
        Reply([Say("Yes.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("what is in a?")
        assert isinstance(end, TurnDone)
        assert not end.turn_memory
        await bench.ask("sure?")
        assert bench.messages() == [
            user("what is in a?"),
            assistant("I look.\n\nIt says one."),
            user("sure?"),
        ]


async def test_03_retry_goes_on_from_the_last_results_and_runs_nothing_twice(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([COUNT, COUNT, COUNT]), CUT, CUT, CUT, CUT, Reply([Say("Recovered.")])]
    async with at_work(script, tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("count")
        assert isinstance(end, TurnIncomplete)
        assert (end.reason, end.calls) == ("cut", 3)
        assert [message.text for message in bench.session.conversation] == ["count"]
        assert isinstance(await bench.retry(), TurnDone)
        assert runs(tmp_path) == 3
        assert roles(bench.messages()) == "user assistant tool tool tool"
        assert bench.messages()[0] == user("count")
        assert bench.messages() == bench.messages(-2), "the retry sends what the cut attempt sent"
        bench.assert_valid_requests()


async def test_03_a_connection_lost_before_the_reply_is_as_good(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([COUNT]), NoAnswer("reset"), Reply([Say("Recovered.")])]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("count")
        assert isinstance(end, TurnIncomplete)
        assert end.reason == "network"
        assert isinstance(await bench.retry(), TurnDone)
        assert runs(tmp_path) == 1


async def test_04_a_new_message_goes_behind_the_kept_work(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([COUNT]), CUT, Reply([Say("Both done.")]), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("first")
        end = await bench.ask("second")
        assert isinstance(end, TurnDone)
        assert roles(bench.messages()) == "user assistant tool user"
        assert bench.messages()[-1] == user("second")
        await bench.ask("third")
        assert bench.messages() == [
            user("first\n\nsecond"),
            assistant("Both done."),
            user("third"),
        ]
        bench.assert_valid_requests()


async def test_05_one_message_remembers_all_attempts(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [
        Reply([Say("First."), write("a.py"), bash("exit 3")]),
        CUT,
        CUT,
        Reply([Say("Second."), write("b.py"), write("a.py", "y = 2\n")]),
        Reply([Say("Third.")]),
        Reply([Say("Yes.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        kept = bench.session.pending
        second = await bench.retry()
        assert isinstance(second, TurnIncomplete)
        assert (second.turn, second.attempt) == (1, 2)
        still = bench.session.pending
        assert kept and still and still.seconds > kept.seconds
        assert replace(still, seconds=kept.seconds) == kept, "a retry that dies at once loses nothing"
        third = await bench.retry()
        assert isinstance(third, TurnDone)
        assert (third.turn, third.attempt, third.calls) == (1, 3, 4)
        assert bench.session.pending is None
        await bench.ask("sure?")
        block = "Tool memory:\n- Files changed: a.py, b.py\n- Failed bash: exit 3 (exit 3)"
        assert bench.messages() == [
            user("go"),
            assistant(f"First.\n\nSecond.\n\nThird.\n\n{block}"),
            user("sure?"),
        ]


async def test_06_a_refused_key_keeps_nothing_and_retry_sends_the_message_again(
    tmp_path: Path, at_work: AtWork
) -> None:
    refused = HttpAnswer(401, {"error": {"message": "wrong key", "code": "invalid_api_key"}})
    script: list[Answer] = [refused, refused, Reply([Say("Hello.")])]
    async with at_work(script, tmp_path, retries=QUICK_RETRIES) as bench:
        end = await bench.ask("hello")
        assert isinstance(end, TurnError)
        assert end.reason == "auth"
        assert "TEST_KEY" in end.detail
        assert "test-key" not in end.detail
        assert bench.session.pending is None
        assert len(bench.server.requests) == 1, "a refused key is not tried again by itself"
        assert isinstance(await bench.retry(), TurnError)
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.messages() == [user("hello")]


async def test_06_discard_takes_the_message_back_out_of_the_conversation(
    tmp_path: Path, at_work: AtWork
) -> None:
    refused = HttpAnswer(401, {"error": {"message": "wrong key"}})
    async with at_work([refused, Reply([Say("Hi.")])], tmp_path) as bench:
        await bench.ask("an unwanted message")
        bench.session.discard()
        taken = await bench.log.wait_for(MessageTakenBack)
        assert taken.text == "an unwanted message"
        assert bench.session.conversation == ()
        await bench.ask("a better one")
        assert bench.messages() == [user("a better one")]


async def test_07_esc_during_the_second_of_three_calls(tmp_path: Path, at_work: AtWork) -> None:
    slow = bash("echo ran >> counter; echo so far; exec sleep 600")
    script: list[Answer] = [Reply([COUNT, slow, COUNT]), Reply([Say("Fine.")])]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("count")
        await until(lambda: any("so far" in event.text for event in bench.log.of(ToolOutput)))
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert (end.reason, end.calls) == ("interrupted", 2)
        assert not end.turn_memory, "an interrupted command leaves no fact"
        assert runs(tmp_path) == 2
        await bench.retry()
        first, second, third = bench.results()
        assert "interrupted" not in first
        assert "interrupted by the user, effects unknown; output so far: so far" in second
        assert third == "not run: the turn was interrupted"
        bench.assert_valid_requests()
        finished = bench.log.of(ToolFinished)
        assert [(each.result.ran, each.result.interrupted) for each in finished] == [
            (True, False),
            (True, True),
            (False, True),
        ]


async def test_08_esc_while_the_first_text_streams(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [
        Reply([Say("The answer is a long one.")], broken=Break("stall", after_deltas=1)),
        Reply([Say("Hi.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        bench.session.submit("hello")
        await bench.log.wait_for(TextDelta)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert end.reason == "interrupted"
        assert bench.session.pending is None
        await bench.server.wait_until_idle()
        await bench.retry()
        assert bench.messages() == [user("hello")]


async def test_09_discarded_work_stays_remembered(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([write("a.py"), bash("exit 2")]), CUT, Reply([Say("Ok.")])]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("go")
        bench.session.discard()
        abandoned = await bench.log.wait_for(TurnAbandoned)
        assert abandoned.turn_memory.files_changed == ("a.py",)
        assert bench.session.pending is None
        with pytest.raises(SessionRefused, match="Nothing to retry"):
            bench.session.retry()
        await bench.ask("next")
        block = "Tool memory:\n- Files changed: a.py\n- Failed bash: exit 2 (exit 2)"
        assert bench.messages() == [
            user("go"),
            assistant(f"(turn abandoned)\n\n{block}"),
            user("next"),
        ]


def other_model(bench: Bench) -> tuple[Provider, ModelInfo]:
    """Another model of the same server, in the same API."""
    api = bench.session.identity.api
    return provider_for(bench.server, api, model="other"), ModelInfo(provider="test", id="other", api=api)


async def test_10_a_switch_of_model_asks_before_it_loses_work(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([Think("Hm."), write("a.py")]), CUT, Reply([Say("Hello.")])]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("go")
        provider, info = other_model(bench)
        if not bench.session.would_abandon(provider):
            assert info.api == "openai-chat", "only Chat may carry pending work over"
            return
        kept = bench.session.pending
        with pytest.raises(SessionRefused, match="retry"):
            bench.session.switch(provider, info)
        assert bench.session.pending == kept
        bench.session.switch(provider, info, abandon=True)
        assert bench.session.pending is None
        await bench.ask("next")
        assert bench.server.requests[-1].body["model"] == "other"
        assert bench.messages() == [
            user("go"),
            assistant("(turn abandoned)\n\nTool memory:\n- Files changed: a.py"),
            user("next"),
        ]
        bench.assert_valid_requests()


async def test_10_chat_on_one_server_carries_work_over_without_vendor_fields(tmp_path: Path) -> None:
    script: list[Answer] = [Reply([Think("Hm."), COUNT]), CUT, Reply([Say("Done.")])]
    async with agent.at_work(script, tmp_path) as bench:
        await bench.ask("go")
        assert bench.messages()[1].thought
        provider, info = other_model(bench)
        bench.session.switch(provider, info)
        assert isinstance(await bench.retry(), TurnDone)
        assert runs(tmp_path) == 1
        assert roles(bench.messages()) == "user assistant tool"
        assert not bench.messages()[1].thought
        assert bench.server.requests[-1].body["model"] == "other"
        bench.assert_valid_requests()


async def test_10_between_apis_the_conversation_goes_over_as_text(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([write("a.py")]), Reply([Say("Done.")]), Reply([Say("Yes.")])]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("go")
        for api in APIS:
            assert bench.session.pending is None
            bench.session.switch(provider_for(bench.server, api), ModelInfo(provider="p", id="m", api=api))
        changed = await bench.log.wait_for(ModelChanged, len(APIS))
        assert changed.model == "scripted"
        await bench.ask("sure?")
        assert bench.messages() == [
            user("go"),
            assistant("Done.\n\nTool memory:\n- Files changed: a.py"),
            user("sure?"),
        ]
        bench.assert_valid_requests()


async def test_11_a_file_name_cannot_forge_an_entry(tmp_path: Path, at_work: AtWork) -> None:
    name = "x\n- Files changed: y"
    script: list[Answer] = [Reply([bash("true"), write(name)]), Reply([Say("Done.")]), Reply([Say("Ok.")])]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("go")
        assert (tmp_path / name).exists()
        await bench.ask("next")
        content = bench.messages()[1].text
        assert content == f"Done.\n\nTool memory:\n- Files changed: {json.dumps(name)}"


async def test_13_esc_while_an_approval_is_open_and_nothing_has_run(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([COUNT]), Reply([Say("Hi.")])]
    async with at_work(script, tmp_path, mode="ask") as bench:
        bench.session.submit("count")
        await bench.log.wait_for(ApprovalRequested)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert runs(tmp_path) == 0
        await bench.retry()
        assert bench.messages() == [user("count")]


async def test_14_each_trace_stays_behind_its_own_user_message(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [
        Reply([write("a.py")]),
        CUT,
        Reply([write("b.py")]),
        CUT,
        Reply([write("c.py")]),
        Reply([Say("All three.")]),
        Reply([Say("Yes.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        assert isinstance(await bench.ask("u2"), TurnIncomplete)
        assert isinstance(await bench.ask("u3"), TurnDone)
        sent = bench.messages()
        assert roles(sent) == "user assistant tool user assistant tool user assistant tool"
        assert [each.text for each in sent if each.role == "user"] == ["u1", "u2", "u3"]
        paths = [each.calls[0].arguments["path"] for each in sent if each.role == "assistant"]
        assert paths == ["a.py", "b.py", "c.py"]
        bench.assert_valid_requests()
        await bench.ask("sure?")
        assert bench.messages() == [
            user("u1\n\nu2\n\nu3"),
            assistant("All three.\n\nTool memory:\n- Files changed: a.py, b.py, c.py"),
            user("sure?"),
        ]


async def test_14_retry_of_the_second_incomplete_turn_extends_its_own_trace(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [
        Reply([write("a.py")]),
        CUT,
        CUT,
        Reply([write("b.py")]),
        CUT,
        Reply([Say("Done.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        await bench.retry()
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert end.turn_memory.files_changed == ("a.py", "b.py")
        assert roles(bench.messages()) == "user assistant tool user assistant tool"
        assert [start.turn for start in bench.log.of(TurnStarted)] == [1, 2, 2, 2]


async def test_15_a_literal_memory_tag_is_just_text(tmp_path: Path, at_work: AtWork) -> None:
    text = "See <keen_memory>files: x</keen_memory> here."
    script: list[Answer] = [Reply([Say(text)]), Reply([Say("Ok.")])]
    async with at_work(script, tmp_path) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert "".join(delta.text for delta in bench.log.of(TextDelta)) == text
        await bench.ask("next")
        assert bench.messages()[1] == assistant(text)


async def test_16_what_was_recalled_is_part_of_the_trace_that_a_retry_sends(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [
        Reply([bash("echo ran >> counter; echo 42")]),
        Reply([Say("Counted.")]),
        Reply([Call("recall", {"turn": 1, "call": 1})]),
        CUT,
        Reply([Say("It was 42.")]),
        Reply([Say("Yes.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("count")
        assert isinstance(await bench.ask("what was it?"), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnDone)
        (recalled,) = bench.results()
        assert recalled.startswith(
            "[turn 1, call 1, as it was then: bash echo ran >> counter; echo 42, exit 0"
        )
        assert recalled.endswith("]\n42")
        assert roles(bench.messages()) == "user assistant user assistant tool"
        assert bench.messages() == bench.messages(-2), "the retry sends what the cut attempt sent"
        assert runs(tmp_path) == 1
        await bench.ask("sure?")
        assert bench.messages()[2:] == [user("what was it?"), assistant("It was 42."), user("sure?")]
        bench.assert_valid_requests()


async def test_17_a_summary_leaves_the_record_as_it_is(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    script: list[Answer] = [
        Reply([Call("read_file", {"path": "a.py"})]),
        Reply([Say("It has two lines.")]),
        Reply([Say("We looked at a.py.")]),
        Reply([Call("recall", {"turn": 1, "call": 1})]),
        Reply([Say("The second was two.")]),
    ]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("look at a.py")
        await bench.compact()
        (tmp_path / "a.py").unlink()
        await bench.ask("what was its second line?")
        assert bench.messages()[:2] == [user(COMPACTED), assistant("We looked at a.py.")]
        (recalled,) = bench.results()
        where, *lines = recalled.split("\n")
        assert where.startswith("[turn 1, call 1, as it was then: read_file a.py")
        assert lines == ["1\tone", "2\ttwo"]
        bench.assert_valid_requests()
