"""What each turn sent is counted beside what the whole history would have been."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import TurnAbandoned, TurnDone, Usage
from keen_tui.domain.spent import NOTHING, NOTHING_LEFT_OUT, Spent
from tests.support.agent import AtWork, Bench
from tests.support.cached_work import FILES, TURNS, CachingModel, all_replies


def spent_by_turn(bench: Bench) -> dict[int, Spent]:
    """What the events say of each turn."""
    left_out, spent = NOTHING_LEFT_OUT, dict[int, Spent]()
    for event in bench.log.events:
        left_out = left_out.after(event)
        if isinstance(event, Usage):
            spent[event.turn] = spent.get(event.turn, NOTHING).plus(event, left_out)
    return spent


async def all_turns(folder: Path, at_work: AtWork, policy: PolicyName) -> dict[int, Spent]:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    async with at_work(CachingModel(all_replies()), folder, policy=policy, mode="auto-edit") as bench:
        for words, _ in TURNS:
            assert isinstance(await bench.ask(words), TurnDone)
        return spent_by_turn(bench)


async def test_the_whole_history_is_what_full_trace_would_have_sent(tmp_path: Path, at_work: AtWork) -> None:
    folders = tmp_path / "summary", tmp_path / "full-trace"
    for folder in folders:
        folder.mkdir()
    summary = await all_turns(folders[0], at_work, "summary")
    full_trace = await all_turns(folders[1], at_work, "full-trace")
    for turn, spent in summary.items():
        assert spent.whole_tokens == pytest.approx(full_trace[turn].input_tokens, rel=0.1)
        assert full_trace[turn].whole_tokens == full_trace[turn].input_tokens, "it leaves nothing out"
    assert summary[1].whole_tokens == summary[1].input_tokens, "the first turn has no history"
    assert summary[8].input_tokens < summary[8].whole_tokens / 3


async def test_what_the_server_had_in_its_cache_is_told_apart(tmp_path: Path, at_work: AtWork) -> None:
    spent = await all_turns(tmp_path, at_work, "summary")
    assert all(each.cached_tokens and each.new_tokens for each in spent.values())
    assert all(each.new_tokens + each.cached_tokens == each.input_tokens for each in spent.values())


async def test_a_turn_that_was_given_up_is_part_of_the_whole_history(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n" * 400)
    read = Reply([Call("read_file", {"path": "a.py"})])
    script = [read, Reply([Say("Now")], broken=Break("reset")), Reply([Say("Ok.")])]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        bench.session.discard()
        abandoned = await bench.log.wait_for(TurnAbandoned)
        whole, carried = abandoned.whole_bytes or 0, abandoned.carried_bytes
        assert whole > 2_000
        assert (whole == carried) == (policy == "full-trace")
        await bench.ask("u2")
        spent = spent_by_turn(bench)[2]
        assert (spent.whole_tokens > spent.input_tokens) == (policy != "full-trace")


async def test_each_call_says_which_model_was_asked(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([Say("Ok.")])] * 2, tmp_path) as bench:
        await bench.ask("u1")
        bench.switch(model="another")
        await bench.ask("u2")
        assert [usage.model for usage in bench.log.of(Usage)] == [bench.provider.model, "another"]
