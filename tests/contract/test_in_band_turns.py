"""The `in-band` policy in whole turns: nobody who reads the bus sees a block, and the model gets it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import StepRestarted, TextDelta, TurnAbandoned, TurnDone, TurnIncomplete
from tests.support.agent import QUICK_RETRIES, AtWork, Bench

BLOCK = "<keen_memory>\n- the secret of what counts\n</keen_memory>"
WRITE = Call("write_file", {"path": "a.py", "content": "x = 1\n"})
CUT = Reply([Say(f"Cut. {BLOCK[:-3]}")], broken=Break("reset"))
OK = Reply([Say("Ok.")])


def said(bench: Bench) -> str:
    """What readers of the bus saw stream."""
    return "".join(delta.text for delta in bench.log.of(TextDelta))


def assert_hidden(bench: Bench) -> None:
    """No event shows anything of a block, `raw` excepted, which is for the model."""
    for event in bench.log.events:
        shown = replace(event, raw=None) if isinstance(event, TurnDone) else event
        assert not re.search("keen_memory|secret", repr(shown))


@pytest.mark.parametrize("size", range(1, len("</keen_memory>") + 2))
async def test_a_block_in_pieces_of_any_size_is_never_shown(
    size: int, tmp_path: Path, at_work: AtWork
) -> None:
    raw = f"Done, a < b.\n\n{BLOCK}"
    script = [Reply([Say("I write."), WRITE]), Reply([Say(raw)], delta_size=size), OK]
    async with at_work(script, tmp_path, policy="in-band") as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert (end.text, end.raw) == ("I write.\n\nDone, a < b.", f"I write.\n\n{raw}")
        assert end.turn_memory.files_changed == ("a.py",), "the recorder runs under every policy"
        assert said(bench) == "I write.Done, a < b."
        assert_hidden(bench)
        await bench.ask("next")
        assert bench.lines() == ["user: go", f"assistant: I write.\n\n{raw}", "user: next"]
        message = bench.session.conversation[1]
        assert (message.text, message.raw) == (end.text, end.raw)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"Before.\n\n{BLOCK}\n\nBehind.", "Before.\n\nBehind."),
        (f"One. {BLOCK} Two. {BLOCK}", "One.  Two."),
        ("Cut. <keen_memory>\n- the secret", "Cut."),
        ("Odd. <KEEN_MEMORY x='1'>the secret</ keen_memory >", "Odd."),
        ("Half a tag. <keen_mem", "Half a tag."),
    ],
)
async def test_no_way_of_writing_a_block_fails_a_turn_or_shows_it(
    written: str, shown: str, tmp_path: Path, at_work: AtWork
) -> None:
    script = [Reply([Say(f"Step. {BLOCK}"), WRITE]), Reply([Say(written)], delta_size=1), OK]
    async with at_work(script, tmp_path, policy="in-band") as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.text.split() == f"Step.\n\n{shown}".split()
        assert_hidden(bench)
        await bench.ask("next")
        assert bench.lines()[1] == f"assistant: Step. {BLOCK}\n\n{written}"
        bench.assert_valid_requests()


async def test_a_step_that_says_nothing_but_a_block_leaves_no_gap(tmp_path: Path, at_work: AtWork) -> None:
    script = [
        Reply([Say(BLOCK), WRITE]),
        Reply([Say("One."), WRITE]),
        Reply([Say(BLOCK), WRITE]),
        Reply([Say("Two."), WRITE]),
        Reply([Say(BLOCK)]),
        OK,
    ]
    async with at_work(script, tmp_path, policy="in-band") as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.text == "One.\n\nTwo."
        assert end.raw == "\n\n".join((BLOCK, "One.", BLOCK, "Two.", BLOCK))
        bench.session.set_policy("full-trace")
        await bench.ask("next")
        words = [line for line in bench.lines() if line.startswith("assistant")]
        assert words == ["assistant: One.", "assistant: Two."], "nothing is said twice"
        bench.assert_valid_requests()


async def test_a_cut_turn_keeps_raw_and_visible_words_apart_through_its_recovery(
    tmp_path: Path, at_work: AtWork
) -> None:
    first, last = f"One. {BLOCK}", f"Two.\n\n{BLOCK}"
    script = [Reply([Say(first), WRITE]), CUT, CUT, Reply([Say(last)]), OK]
    async with at_work(script, tmp_path, policy="in-band") as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete)
        assert end.text == "One."
        pending = bench.session.pending
        assert pending
        assert (pending.texts, pending.raw_texts) == (("One.",), (first,))
        assert isinstance(await bench.retry(), TurnIncomplete)
        still = bench.session.pending
        assert still and replace(still, seconds=pending.seconds) == pending
        done = await bench.retry()
        assert isinstance(done, TurnDone)
        assert (done.text, done.raw) == ("One.\n\nTwo.", f"{first}\n\n{last}")
        assert bench.lines()[1] == f"assistant: {first}", "the trace holds what the model wrote"
        assert_hidden(bench)
        await bench.ask("next")
        assert bench.lines() == ["user: go", f"assistant: {first}\n\n{last}", "user: next"]
        bench.assert_valid_requests()


async def test_a_step_tried_again_begins_with_a_filter_of_its_own(tmp_path: Path, at_work: AtWork) -> None:
    half = Reply([Say("Cut. <keen_memory>\n- the secret ")], broken=Break("reset"))
    script = [Reply([WRITE]), half, Reply([Say("Shown.")])]
    async with at_work(script, tmp_path, policy="in-band", retries=QUICK_RETRIES) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert (end.text, end.raw) == ("Shown.", None)
        restarted = bench.log.events.index(bench.log.of(StepRestarted)[0])
        behind = (event for event in bench.log.events[restarted:] if isinstance(event, TextDelta))
        assert "".join(event.text for event in behind) == "Shown."
        assert_hidden(bench)


async def test_abandoned_work_is_remembered_though_its_block_is_gone(tmp_path: Path, at_work: AtWork) -> None:
    script = [Reply([Say(f"One. {BLOCK}"), WRITE]), CUT, OK]
    async with at_work(script, tmp_path, policy="in-band") as bench:
        await bench.ask("go")
        bench.session.discard()
        await bench.log.wait_for(TurnAbandoned)
        await bench.ask("next")
        abandoned = "assistant: (turn abandoned)\n\nTool memory:\n- Files changed: a.py"
        assert bench.lines() == ["user: go", abandoned, "user: next"]


@pytest.mark.parametrize("other", ["summary", "full-trace"])
async def test_15_elsewhere_the_tag_is_text_and_never_asked_for(
    other: PolicyName, tmp_path: Path, at_work: AtWork
) -> None:
    text = f"See {BLOCK} here, and </keen_memory>."
    script = [Reply([Say(text)], delta_size=1), OK, OK]
    async with at_work(script, tmp_path, policy=other) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert (end.text, end.raw, said(bench)) == (text, None, text)
        await bench.ask("next")
        assert bench.lines()[1] == f"assistant: {text}"
        assert "keen_memory" not in bench.system()
        bench.session.set_policy("in-band")
        await bench.ask("and now")
        assert bench.lines()[1] == f"assistant: {text}", "what was shown stays as it is"
        assert "<keen_memory>" in bench.system()
