"""The model's todo list: kept for the session, read again by later turns, never carried by TurnMemory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.display import TodoDisplay, TodoItem
from keen_tui.domain.events import ToolFinished, TurnDone
from keen_tui.domain.messages import TurnMemory
from tests.support.agent import AtWork
from tests.support.saving import place


def item(text: str, status: str = "pending") -> dict[str, str]:
    return {"text": text, "status": status}


WRITE = Call("todo_write", {"items": [item("tax", "done"), item("carts", "in_progress"), item("tests")]})
READ = Call("todo_write", {})
OK = Reply([Say("Ok.")])
LIST = "[x] tax\n[>] carts\n[ ] tests"


async def test_a_later_turn_is_not_sent_the_list_and_can_read_it(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([READ]), Reply([WRITE]), OK, Reply([READ]), OK], tmp_path) as bench:
        end = await bench.ask("u1")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory()
        assert bench.results() == ["The list is empty.", "The list is saved: 1 of 3 done."]
        await bench.ask("u2")
        assert "carts" not in "\n".join(bench.lines(-2))
        assert bench.results() == [LIST]
        bench.assert_valid_requests()
        read, written, _ = bench.log.of(ToolFinished)
        assert (read.target, read.result.summary) == ("read", "empty")
        assert (written.target, written.result.summary) == ("carts", "1 of 3 done")
        assert written.result.display == TodoDisplay(
            items=(
                TodoItem(text="tax", status="done"),
                TodoItem(text="carts", status="in_progress"),
                TodoItem(text="tests"),
            )
        )


async def test_the_list_belongs_to_the_session(tmp_path: Path) -> None:
    clear = Call("todo_write", {"items": []})
    script = [Reply([WRITE]), OK, Reply([clear]), OK, *[Reply([READ]), OK] * 4]
    async with place(tmp_path, "openai-chat", script) as here:
        async with here.program() as program:
            await program.ask("u1")
            await program.ask("u2")
            session = program.history.session_id
            await program.history.new()
            await program.ask("u1")
            assert program.results() == ["The list is empty."]
            await program.history.fork(session, 1)
            await program.ask("u3")
            assert program.results() == [LIST]
            fork = program.history.session_id
        async with here.program(session) as program:
            await program.ask("u3")
            assert program.results() == ["The list is empty."]
        async with here.program(fork) as program:
            await program.ask("u4")
            assert program.results() == [LIST]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"items": [item("a", "in_progress"), item("b", "in_progress")]}, "only one item can be in_progress"),
        ({"items": [item("a", "soon")]}, "Invalid enum value 'soon'"),
        ({"items": [item(" ")]}, "each item needs a text"),
        ({"items": [item("a")] * 51}, "items must be at most 50"),
        ({"items": "a"}, "items must be a list"),
        ({"items": ["a"]}, "Expected object, got str"),
    ],
)
async def test_a_list_that_is_none_changes_nothing(
    tmp_path: Path, at_work: AtWork, arguments: dict[str, Any], why: str
) -> None:
    script = [Reply([WRITE]), Reply([Call("todo_write", arguments)]), Reply([READ]), OK]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("go")
        assert why in bench.results()[1]
        assert bench.results()[2] == LIST
