"""What the next turn gets of a finished one, under each memory policy and on each API.

`summary` sends words and the rendered TurnMemory, `in-band` the words as the model wrote them, `full-trace`
what the turn itself saw, call by call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Break, Call, RecordedRequest, Reply, Say, Think
from keen_tui.domain.choices import Api, Mode, PolicyName
from keen_tui.domain.events import (
    Event,
    PolicyChanged,
    SessionRestored,
    ToolFinished,
    TurnDone,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.domain.reports import POLICIES
from keen_tui.memory.policies import RESULT_LIMIT
from keen_tui.providers.registry import APIS
from tests.support.agent import AtWork

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
OK = Reply([Say("Ok.")])
BLOCK = "<keen_memory>\n- what counts\n</keen_memory>"


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


def write(path: str, content: str = "x = 1\n") -> Call:
    return Call("write_file", {"path": path, "content": content})


def read(path: str) -> Call:
    return Call("read_file", {"path": path})


def closing(policy: PolicyName, text: str) -> str:
    """The last words of a turn, with the block that is asked for under `in-band`."""
    return f"{text}\n\n{BLOCK}" if policy == "in-band" else text


@dataclass(frozen=True)
class Case:
    """A turn of these steps, which say `said` on the way, and what TurnMemory keeps of it."""

    steps: Sequence[Reply]
    said: str = ""
    memory: str = ""
    mode: Mode = "auto"

    def reply(self, policy: PolicyName) -> str:
        """The reply to the turn as the next request carries it where no calls are replayed."""
        words = self.said + closing(policy, "All done.")
        remembered = f"\n\nTool memory:\n{self.memory}" if self.memory and policy == "summary" else ""
        return words + remembered


CASES = {
    "many tools": Case(
        [
            Reply([Say("I look."), read("a.py")]),
            Reply([Think("Hm."), Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "1"})]),
            Reply([Say("Now b."), write("b.py"), bash("exit 3")]),
        ],
        said="I look.\n\nNow b.\n\n",
        memory="- Files changed: a.py, b.py\n- Failed bash: exit 3 (exit 3)",
    ),
    "only reading": Case([Reply([read("a.py")]), Reply([Call("grep", {"pattern": "one"})])]),
    "no tools": Case([]),
    "failed command": Case(
        [Reply([bash("echo out; exit 4")])], memory="- Failed bash: echo out; exit 4 (exit 4)"
    ),
    "denied call": Case([Reply([write("b.py")])], mode="ask"),
    "unknown tool": Case([Reply([Call("no/such tool ✗ " + "x" * 80, {"path": "ä"})])]),
    "no tool name": Case([Reply([Call("", {})])]),
    "arguments that are no JSON": Case([Reply([Call("read_file", '{"path": "a.py')])]),
    "arguments that are no object": Case([Reply([Call("read_file", '["a.py"]')])]),
    "half a character": Case([Reply([Call("read_file", '{"path": "\\ud83d"}')])]),
    "a number that no JSON can hold": Case([Reply([Call("read_file", '{"path": "a.py", "limit": 1e999}')])]),
    "empty file": Case([Reply([read("empty")])]),
    "parallel calls": Case(
        [Reply([Say("All at once."), read("a.py"), write("b.py"), bash("exit 2"), read("missing")])],
        said="All at once.\n\n",
        memory="- Files changed: b.py\n- Failed bash: exit 2 (exit 2)",
    ),
    "ids missing and repeated": Case(
        [Reply([Call("read_file", {"path": "a.py"}, id=""), Call("read_file", {"path": "a.py"}, id="1")])] * 2
    ),
    "blank words": Case([Reply([Say(" \n"), read("a.py")])]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / "empty").write_text("")
    return tmp_path


@pytest.mark.parametrize("name", CASES)
async def test_what_the_next_turn_gets(name: str, folder: Path, at_work: AtWork, policy: PolicyName) -> None:
    case = CASES[name]
    script = [*case.steps, Reply([Say(closing(policy, "All done."))]), OK]
    async with at_work(script, folder, policy=policy, mode=case.mode, attended=False) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        happened = bench.lines()
        await bench.ask("next")
        expected = {
            "summary": ["user: go", f"assistant: {case.reply(policy)}", "user: next"],
            "in-band": ["user: go", f"assistant: {case.reply(policy)}", "user: next"],
            "full-trace": [*_without_blanks(happened), "assistant: All done.", "user: next"],
        }
        assert _without_blanks(bench.lines()) == expected[policy]
        bench.assert_valid_requests()


def _without_blanks(lines: Sequence[str]) -> list[str]:
    """The lines without words that are nothing but white space: some APIs take none."""
    return [line for line in lines if line.strip() != "assistant:"]


async def test_an_abandoned_turn_keeps_its_memory_under_every_policy(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [Reply([write("a.py"), bash("exit 2")]), CUT, OK]
    async with at_work(script, tmp_path, policy=policy) as bench:
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        happened = bench.lines()
        bench.session.discard()
        await bench.ask("next")
        block = "Tool memory:\n- Files changed: a.py\n- Failed bash: exit 2 (exit 2)"
        before = happened if policy == "full-trace" else ["user: go"]
        assert bench.lines() == [*before, f"assistant: (turn abandoned)\n\n{block}", "user: next"]
        bench.assert_valid_requests()


async def test_recovered_work_stays_behind_its_own_message(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [
        Reply([Say("One."), write("a.py")]),
        CUT,
        Reply([Say("Two."), write("b.py")]),
        CUT,
        CUT,
        Reply([Say(closing(policy, "Both."))]),
        OK,
    ]
    async with at_work(script, tmp_path, policy=policy) as bench:
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        assert isinstance(await bench.ask("u2"), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnDone)
        happened = bench.lines()
        assert [line for line in happened if line.startswith("user")] == ["user: u1", "user: u2"]
        assert happened.index("user: u2") == 4, "u1 P1 u2 P2"
        await bench.ask("u3")
        words = f"One.\n\nTwo.\n\n{closing(policy, 'Both.')}"
        expected = {
            "summary": [
                "user: u1\n\nu2",
                f"assistant: {words}\n\nTool memory:\n- Files changed: a.py, b.py",
                "user: u3",
            ],
            "in-band": ["user: u1\n\nu2", f"assistant: {words}", "user: u3"],
            "full-trace": [*happened, "assistant: Both.", "user: u3"],
        }
        assert bench.lines() == expected[policy]
        bench.assert_valid_requests()


async def test_a_turn_that_failed_before_it_did_anything_leaves_only_its_message(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    async with at_work([CUT, OK, OK], tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        await bench.ask("u3")
        assert bench.lines() == ["user: u1\n\nu2", "assistant: Ok.", "user: u3"]
        bench.assert_valid_requests()


async def test_a_reply_without_words_is_left_out(tmp_path: Path, at_work: AtWork, policy: PolicyName) -> None:
    async with at_work([Reply([]), Reply([Say(" \n")]), OK], tmp_path, policy=policy) as bench:
        assert isinstance(await bench.ask("u1"), TurnDone)
        assert isinstance(await bench.ask("u2"), TurnDone)
        await bench.ask("u3")
        assert bench.lines() == ["user: u1\n\nu2\n\nu3"]
        bench.assert_valid_requests()


async def test_replayed_results_are_bounded(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "big").write_text("".join(f"{number:5} {'€' * 60}\n" for number in range(1_000)))
    script = [Reply([read("big"), read("big")]), Reply([Say("Big.")]), OK]
    async with at_work(script, tmp_path, policy="full-trace") as bench:
        await bench.ask("go")
        whole = bench.results()
        await bench.ask("next")
        assert all(len(text.encode()) > 180_000 for text in whole)
        for text, cut in zip(whole, bench.results(), strict=True):
            assert RESULT_LIMIT - 100 < len(cut.encode()) <= RESULT_LIMIT
            head, note, tail = re.split(r"\n(\[[\d,]+ bytes left out\])\n", cut)
            assert text.startswith(head)
            assert text.endswith(tail)
            left_out = len(text.encode()) - len(head.encode()) - len(tail.encode())
            assert note == f"[{left_out:,} bytes left out]"
        bench.assert_valid_requests()


async def test_an_empty_result_is_replayed_as_one(tmp_path: Path, at_work: AtWork) -> None:
    empty = ToolResult(text="")
    past: list[Event] = [
        TurnStarted(turn=1, attempt=1, text="go"),
        ToolFinished(
            turn=1, step=1, id="1", name="bash", arguments={}, target="", result=empty, seconds=0.0
        ),
        TurnDone(
            turn=1, attempt=1, reason="stop", text="Done.", turn_memory=TurnMemory(), calls=1, seconds=0.0,
            carried_bytes=5, trace_bytes=0,
        ),
    ]  # fmt: skip
    async with at_work([OK], tmp_path, policy="full-trace") as bench:
        bench.session.open("saved", "", past)
        await bench.log.wait_for(SessionRestored)
        await bench.ask("next")
        user, call, result, *rest = bench.lines()
        assert (user, call, rest) == ("user: go", "call: bash {}", ["assistant: Done.", "user: next"])
        assert result in ("result: ", "result: (empty)"), "Anthropic takes no empty text"
        bench.assert_valid_requests()


async def test_replayed_ids_are_the_same_in_every_request_and_plain(tmp_path: Path, at_work: AtWork) -> None:
    step = Reply([Call("bash", {"command": "true"}, id="call/ü"), bash("true")])
    script = [step, step, OK, step, OK, OK]
    async with at_work(script, tmp_path, policy="full-trace") as bench:
        for words in ("u1", "u2", "u3"):
            await bench.ask(words)
        first, last = _ids(bench.messages(3)), _ids(bench.messages())
        assert last[: len(first)] == first, "or no prompt cache would ever be met"
        assert len(first) == 4
        assert len(set(last)) == len(last) == 6
        assert all(re.fullmatch("[a-zA-Z0-9]{9}", each) for each in last)
        bench.assert_valid_requests()


async def test_a_reply_cannot_use_a_replayed_id_again(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([bash("true")]), OK]
    async with at_work(lambda _: script.pop(0), tmp_path, policy="full-trace") as bench:
        await bench.ask("u1")
        script += [OK]
        await bench.ask("u2")
        (replayed,) = _ids(bench.messages())
        script += [Reply([Call("bash", {"command": "true"}, id=replayed)]), OK, OK]
        await bench.ask("u3")
        assert len(set(_ids(bench.messages()))) == 2
        await bench.ask("u4")
        assert len(set(_ids(bench.messages()))) == 2
        bench.assert_valid_requests()


def _ids(messages: Sequence[object]) -> list[str]:
    return [call.id for message in messages for call in getattr(message, "calls", ())]


@pytest.mark.parametrize("later", POLICIES)
async def test_a_change_of_policy_takes_effect_from_the_next_turn(
    later: PolicyName, tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = iter([Reply([Say("One."), write("a.py")]), Reply([Say(closing(policy, "Done."))]), OK])

    def answer(request: RecordedRequest) -> Answer:
        if len(bench.server.requests) == 2:
            bench.session.set_policy(later)
        return next(script)

    async with at_work(answer, tmp_path, policy=policy) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.text == "One.\n\nDone.", "the running turn keeps its filter"
        assert bench.system(0) == bench.system(1), "and its system prompt"
        assert [change.policy for change in bench.log.of(PolicyChanged)] == [later]
        happened = bench.lines()
        await bench.ask("next")
        written = f"One.\n\n{closing(policy, 'Done.')}"
        expected = {
            "summary": [
                "user: go",
                "assistant: One.\n\nDone.\n\nTool memory:\n- Files changed: a.py",
                "user: next",
            ],
            "in-band": ["user: go", f"assistant: {written}", "user: next"],
            "full-trace": [*happened, "assistant: Done.", "user: next"],
        }
        assert bench.lines() == expected[later]
        assert ("keen_memory" in bench.system()) == (later == "in-band")
        bench.assert_valid_requests()


@pytest.mark.parametrize("later", POLICIES)
async def test_pending_work_goes_on_under_another_policy(
    later: PolicyName, tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [
        Reply([read("missing")]),
        Reply([Say("Zero.")]),
        Reply([Say(closing(policy, "One.")), write("a.py")]),
        CUT,
        Reply([Say(closing(later, "Two.")), write("b.py")]),
        Reply([Say(closing(later, "Done."))]),
        OK,
    ]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u0")
        assert isinstance(await bench.ask("u1"), TurnIncomplete)
        trace = bench.lines()[-3:]
        bench.session.set_policy(later)
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert end.text == "One.\n\nTwo.\n\nDone."
        assert bench.lines()[-6:-3] == trace, "the trace stays as it was"
        await bench.ask("u2")
        sent = bench.lines()
        if later == "summary":
            assert sent[-2] == f"assistant: {end.text}\n\nTool memory:\n- Files changed: a.py, b.py"
        elif later == "in-band":
            words = (closing(policy, "One."), closing(later, "Two."), closing(later, "Done."))
            assert sent[-2] == "assistant: " + "\n\n".join(words)
        else:
            assert sent[-2] == "assistant: Done."
            assert [line for line in sent if "Two." in line] == ["assistant: Two."]
            assert len([line for line in sent if line.startswith("call")]) == 3
        bench.assert_valid_requests()


@pytest.mark.parametrize("other", APIS)
async def test_the_past_goes_over_to_another_model_as_it_is(
    other: Api, tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [
        Reply([Think("Hm."), Say("One."), write("a.py"), Call("no/such", {"ä": [1.0, None]}), read("a.py")]),
        Reply([Say(closing(policy, "Done."))]),
        *[OK] * 3,
    ]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("go")
        await bench.ask("next")
        before, here = bench.lines(), bench.session.identity.api
        bench.switch(other, model="other")
        await bench.ask("and then")
        assert bench.server.requests[-1].body["model"] == "other"
        assert bench.lines() == [*before, "assistant: Ok.", "user: and then"]
        bench.switch(here)
        await bench.ask("back")
        assert bench.lines()[: len(before)] == before
        bench.assert_valid_requests()
