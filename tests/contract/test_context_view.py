"""The context view tells of the next request what the server then receives, byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Call, RecordedRequest, Reply, Say, Think
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import Compacted, TurnStarted, Usage
from keen_tui.domain.messages import TokenUsage, TurnMemory
from keen_tui.domain.reports import POLICIES, ContextPart, ContextReport
from tests.support.agent import AtWork, Bench
from tests.support.waiting import until_idle

WRITE = Call("write_file", {"path": "a.py", "content": 'x = "ä"\n'})
READ = Call("read_file", {"path": "a.py"})
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
OK = Reply([Say("Ok.")])
WORDS = 'words with ä, ✗, "quotes", \\ and\na second line\u2028'

MOST_FRAME = 1_000
"""Bytes that field names and brackets may take in these small requests."""


def part(report: ContextReport, kind: str, turn: int = 0) -> ContextPart:
    """The only row of that kind and turn."""
    (found,) = (each for each in report.parts if each.kind == kind and (not turn or each.turn == turn))
    return found


def assert_adds_up(report: ContextReport) -> None:
    """The parts of each policy make its total, and the frame is what little is left."""
    for column, total in enumerate(report.totals):
        assert sum(each.sizes[column].bytes for each in report.parts) == total.bytes
        assert all(each.sizes[column].bytes >= 0 for each in report.parts)
        assert 0 < part(report, "frame").sizes[column].bytes < MOST_FRAME


def assert_received(report: ContextReport, bench: Bench) -> None:
    """The newest request is the one that was told of: as many bytes, and the same words."""
    column = POLICIES.index(report.policy)
    assert report.totals[column].bytes == len(bench.server.requests[-1].raw)
    assert_adds_up(report)
    received = "\n".join(bench.lines())
    said = [each for each in report.parts if each.kind in ("turn", "compacted", "draft")]
    shown = "\n".join(each.sizes[column].text for each in said)
    for line in shown.splitlines():
        assert line.removeprefix("› ") in received, "shown, but never sent"
    if not any(each.kind == "pending" for each in report.parts):
        for line in received.splitlines():
            words = line.removeprefix("call: ").removeprefix("user: ").removeprefix("assistant: ")
            assert words.removeprefix("result: ") in shown, "sent, but not shown"
    assert part(report, "system").sizes[column].text == bench.system()


async def test_what_is_told_is_what_is_received(tmp_path: Path, at_work: AtWork, policy: PolicyName) -> None:
    (tmp_path / "a.py").write_text("one\n" * 30)
    script = [
        Reply([Think("Hm."), Say("I look."), READ, READ]),
        Reply([WRITE]),
        Reply([Say(WORDS)]),
        Reply([Say("Two.")]),
        *[OK] * 3,
    ]
    async with at_work(script, tmp_path, policy=policy) as bench:
        for words in (WORDS, "u2", "u3\n\nwith a blank line"):
            report = await bench.session.context(words)
            assert report.policy == policy
            await bench.ask(words)
            number = len(bench.server.requests) - (3 if words == WORDS else 1)
            assert report.totals[POLICIES.index(policy)].bytes == len(bench.server.requests[number].raw)
            assert_adds_up(report)
        report = await bench.session.context("u4")
        await bench.ask("u4")
        assert_received(report, bench)
        sizes = part(report, "turn", 1).sizes
        assert [bool(size.left_out) for size in sizes] == [True, True, False]
        assert sizes[2].bytes > sizes[0].bytes > sizes[1].bytes, "in-band renders no TurnMemory"
        assert part(report, "draft").sizes[0].text == "› u4"


async def test_pending_work_is_told_of_with_and_without_a_message(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [OK, Reply([Say("One."), WRITE]), CUT, CUT, OK]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        report = await bench.session.context()
        await bench.retry()
        assert_received(report, bench)
        pending = part(report, "pending", 2)
        assert pending.label == "1 call, kept"
        assert "write_file" in pending.sizes[0].text
        assert pending.sizes[0] == pending.sizes[1] == pending.sizes[2], "no policy touches a trace"
        report = await bench.session.context("u3")
        await bench.ask("u3")
        assert_received(report, bench)


async def test_a_message_that_failed_is_told_of_and_sent_again(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    async with at_work([CUT, CUT, OK], tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        report = await bench.session.context()
        await bench.retry()
        assert_received(report, bench)
        report = await bench.session.context("u2")
        await bench.ask("u2")
        assert_received(report, bench)


async def test_a_summary_stands_in_the_place_of_its_turns(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [Reply([WRITE]), OK, OK, Reply([Say("We wrote a.")]), Reply([READ]), OK, OK]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        bench.session.compact()
        await bench.log.wait_for(Compacted)
        await until_idle(bench.session)
        await bench.ask("u3")
        report = await bench.session.context("u4")
        await bench.ask("u4")
        assert_received(report, bench)
        compacted = part(report, "compacted").sizes[0]
        assert "We wrote a.\n\nTool memory:\n- Files changed: a.py" in compacted.text
        assert [each.turn for each in report.parts if each.kind == "turn"] == [3]


async def test_notes_and_abandoned_work_are_told_of(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    again = Call("write_file", {"path": "a.py", "content": "other"})
    script = [Reply([WRITE]), OK, Reply([again]), CUT, OK]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        bench.session.edit_memory(1, TurnMemory(notes=("keep a small",)))
        await bench.ask("u2")
        bench.session.discard()
        report = await bench.session.context("u3")
        await bench.ask("u3")
        assert_received(report, bench)
        noted = ["- Note: keep a small" in size.text for size in part(report, "turn", 1).sizes]
        assert noted == [True, False, False]
        for size in part(report, "turn", 2).sizes:
            assert "(turn abandoned)\n\nTool memory:\n- Files changed: a.py" in size.text


async def test_counts_of_another_session_say_nothing_of_this_request(tmp_path: Path, at_work: AtWork) -> None:
    huge = Usage(turn=1, step=1, tokens=TokenUsage(input_tokens=90_000, output_tokens=1))
    async with at_work([CUT], tmp_path) as bench:
        await bench.ask("measured, but never counted")
        bench.session.discard()
        bench.session.open("saved", "", [TurnStarted(turn=1, attempt=1, text="u1"), huge])
        size = (await bench.session.context("next")).totals[0]
        assert size.tokens == round(size.bytes / 4)


@pytest.mark.parametrize("bytes_a_token", [3, 5])
async def test_tokens_are_estimated_by_what_the_provider_counted(
    bytes_a_token: int, tmp_path: Path, at_work: AtWork
) -> None:
    def answer(request: RecordedRequest) -> Reply:
        tokens = TokenUsage(input_tokens=len(request.raw) // bytes_a_token, output_tokens=1)
        is_first = len(bench.server.requests) == 1
        return Reply([Say("One."), *[WRITE] * is_first], usage=tokens)

    async with at_work(answer, tmp_path) as bench:
        before = (await bench.session.context("go")).totals[0]
        assert before.tokens == round(before.bytes / 4), "a guess, until somebody has counted"
        await bench.ask("go")
        after = await bench.session.context("next")
        for size in (*after.totals, *after.parts[0].sizes):
            assert size.tokens == pytest.approx(size.bytes / bytes_a_token, rel=0.01, abs=1)
