"""`keen-tui usage`: what all saved sessions used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keen_tui.demo.script import Reply, Say
from keen_tui.domain.messages import TokenUsage
from tests.support.program import Program


def reply(sent: int, cached: int) -> Reply:
    used = TokenUsage(input_tokens=sent, output_tokens=20, cached_tokens=cached)
    return Reply([Say("Ok.")], usage=used)


async def test_all_sessions_are_added_up(tmp_path: Path) -> None:
    program = Program(tmp_path)
    await program.ask([reply(1_000, 600)], "-p", "one", "--mode", "plan")
    await program.ask([reply(500, 0)], "-p", "two", "--mode", "plan")
    run = await program.run("usage")
    heads, row, total, sentence, unpriced = run.out.splitlines()
    assert run.code == 0 and not run.err
    assert heads.split() == ["day", "model", "turns", "new", "cached", "whole", "received", "cost"]
    assert row.split()[1:] == ["scripted", "2", "900", "600", "1.5k", "40", "unknown"]
    assert total.split() == ["all", "2", "sessions", "2", "900", "600", "1.5k", "40", "unknown"]
    assert sentence == "Sent: 1,500 tokens, 100 % of the whole history (1,500)."
    assert unpriced == "The cost leaves out 2 calls whose price isn't known."


async def test_the_same_as_json(tmp_path: Path) -> None:
    program = Program(tmp_path)
    await program.ask([reply(1_000, 600)], "-p", "one", "--mode", "plan")
    run = await program.run("usage", "--days", "1", "--json")
    found = json.loads(run.out)
    assert (run.code, found["schema"], len(found["days"])) == (0, 1, 1)
    assert found["total"] == {
        "day": "",
        "model": "",
        "sessions": 1,
        "turns": 1,
        "calls": 1,
        "input_tokens": 1_000,
        "cached_tokens": 600,
        "output_tokens": 20,
        "whole_history_tokens": 1_000,
        "cost": None,
        "unpriced_calls": 1,
        "web_searches": 0,
    }
    assert found["days"][0] == found["total"] | {"day": found["first_day"], "model": "scripted"}


async def test_before_the_first_session_nothing_was_used(tmp_path: Path) -> None:
    run = await Program(tmp_path).run("usage")
    assert run.code == 0 and run.out.startswith("Nothing used since ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("usage", "--days", "0"), "--days must be a number from 1 to"),
        (("usage", "--days", "x"), "--days"),
        (("usage", "all"), "usage takes no arguments."),
        (("sessions", "--json"), "--json only works with usage or eval."),
    ],
)
async def test_wrong_words_are_refused(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    run = await Program(tmp_path).run(*arguments)
    assert run.code == 2 and told in run.err
