"""Calls of a step that only read run side by side; all others wait their turn (turn.md rule 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from keen_tui.agent.turn.batch import MOST_AT_ONCE
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.events import (
    ApprovalRequested,
    Event,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.page_read import PageRead
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState
from keen_tui.tools.access.access import Access
from keen_tui.tools.calls.arguments import mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.toolbox import Toolbox
from tests.support.agent import at_work
from tests.support.waiting import until

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


class Gate:
    """Calls that end when the test lets them."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.ran: list[str] = []
        self._open: dict[str, asyncio.Event] = {}

    def let(self, *names: str) -> None:
        for name in names:
            self._opening(name).set()

    async def passed(self, name: str) -> None:
        self.ran.append(name)
        self.running.append(name)
        try:
            await self._opening(name).wait()
        finally:
            self.running.remove(name)

    def _opening(self, name: str) -> asyncio.Event:
        return self._open.setdefault(name, asyncio.Event())


class Gated:
    """A tool whose calls pass the gate. A name with "outside" in it is a file that a read has to ask about,
    one with "bad" fails."""

    def __init__(self, gate: Gate, name: str, *, only_reads: bool) -> None:
        self.spec = ToolSpec(name=name, description=name, parameters=NAME)
        self.only_reads = only_reads
        self._gate = gate

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "name")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        name = str(arguments["name"])
        kind: Literal["read", "write"] = "read" if self.only_reads else "write"

        async def run(_: OutputSink) -> ToolResult:
            await self._gate.passed(name)
            if "bad" in name:
                raise ToolFailure(f"{name} went wrong")
            fact = PageRead(url=name) if self.only_reads else FileChanged(path=name)
            return ToolResult(text=f"this is {name}", summary="done", facts=(fact,))

        access = Access(kind=kind, subject=name, path=f"/{name}", inside="outside" not in name)
        return PreparedCall(access=access, display=None, run=run)


def box(gate: Gate) -> Toolbox:
    return Toolbox((Gated(gate, "grep_files", only_reads=True), Gated(gate, "write_file", only_reads=False)))


def look(*names: str) -> list[Call]:
    return [Call("grep_files", {"name": name}) for name in names]


def change(name: str) -> Call:
    return Call("write_file", {"name": name})


def in_order(events: list[Event]) -> list[str]:
    return [event.target for event in events if isinstance(event, ToolFinished)]


async def test_reads_run_at_once_and_keep_the_order_of_the_reply(tmp_path: Path) -> None:
    gate = Gate()
    script: list[Answer] = [Reply(look("a", "b", "c")), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        bench.session.submit("look")
        await until(lambda: gate.running == ["a", "b", "c"])
        assert [event.target for event in bench.log.of(ToolStarted)] == ["a", "b", "c"]
        gate.let("c", "b")
        await until(lambda: gate.running == ["a"])
        gate.let("a")
        assert isinstance(await bench.log.wait_for_end(), TurnDone)
        assert in_order(bench.log.events) == ["a", "b", "c"]
        assert bench.results() == ["this is a", "this is b", "this is c"]
        bench.assert_valid_requests()


async def test_a_call_that_writes_waits_for_those_before_it_and_holds_those_behind_it(tmp_path: Path) -> None:
    gate = Gate()
    script: list[Answer] = [Reply([*look("a", "b"), change("x"), *look("c", "d")]), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        bench.session.submit("go")
        await until(lambda: gate.running == ["a", "b"])
        gate.let("b")
        await until(lambda: gate.running == ["a"])
        gate.let("a")
        await until(lambda: gate.running == ["x"])
        assert in_order(bench.log.events)[:2] == ["a", "b"]
        gate.let("x")
        await until(lambda: gate.running == ["c", "d"])
        gate.let("d", "c")
        end = await bench.log.wait_for_end()
        assert bench.results() == [f"this is {name}" for name in ("a", "b", "x", "c", "d")]
        assert end.turn_memory.pages_read == ("a", "b", "c", "d")


async def test_no_more_than_eight_run_at_once(tmp_path: Path) -> None:
    gate = Gate()
    names = [f"n{number}" for number in range(MOST_AT_ONCE + 3)]
    script: list[Answer] = [Reply(look(*names)), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        bench.session.submit("go")
        await until(lambda: len(gate.running) == MOST_AT_ONCE)
        gate.let("n3")
        await until(lambda: gate.running[-1] == f"n{MOST_AT_ONCE}")
        assert len(gate.running) == MOST_AT_ONCE
        gate.let("n0", "n1")
        await until(lambda: in_order(bench.log.events) == ["n0", "n1"])
        gate.let(*names)
        await bench.log.wait_for_end()
        assert in_order(bench.log.events) == names


async def test_a_read_that_asks_waits_and_holds(tmp_path: Path) -> None:
    gate = Gate()
    script: list[Answer] = [Reply(look("a", "outside", "b")), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate), mode="ask") as bench:
        bench.session.submit("go")
        await until(lambda: gate.running == ["a"])
        assert not bench.log.of(ApprovalRequested)
        gate.let("a", "outside", "b")
        asked = await bench.log.wait_for(ApprovalRequested)
        assert gate.ran == ["a"]
        bench.session.answer(asked.id, allow=True)
        await bench.log.wait_for_end()
        assert gate.ran == ["a", "outside", "b"]


async def test_21_esc_in_a_row_of_reads_gives_each_its_result(tmp_path: Path) -> None:
    gate = Gate()
    names = [f"n{number}" for number in range(MOST_AT_ONCE + 2)]
    script: list[Answer] = [Reply(look(*names)), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        bench.session.submit("go")
        await until(lambda: len(gate.running) == MOST_AT_ONCE)
        gate.let("n1")
        await until(lambda: f"n{MOST_AT_ONCE}" in gate.running)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert not gate.running
        ran = list(gate.ran)
        outcomes = [event.result.outcome for event in bench.log.of(ToolFinished)]
        assert outcomes == ["stopped", "done", *["stopped"] * 7, "not_run"]
        assert isinstance(await bench.retry(), TurnDone)
        assert gate.ran == ran, "a retry runs none of them"
        assert bench.results()[1] == "this is n1"
        assert len(bench.results()) == len(names)
        bench.assert_valid_requests()


async def test_22_a_read_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    gate = Gate()
    gate.let("a", "bad", "b")
    script: list[Answer] = [Reply(look("a", "bad", "b")), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert bench.results() == ["this is a", "Error: bad went wrong", "this is b"]


async def test_23_a_retry_sends_the_reads_and_runs_none_again(tmp_path: Path) -> None:
    gate = Gate()
    gate.let("a", "b", "c")
    script: list[Answer] = [Reply(look("a", "b", "c")), CUT, Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.messages() == bench.messages(-2)
        assert gate.ran == ["a", "b", "c"]


class Disk:
    """Notes what is saved of pending state."""

    def __init__(self) -> None:
        self.saved: list[PendingState] = []

    def keep(self, identity: Identity, pending: PendingState | None) -> None:
        if pending:
            self.saved.append(pending)

    async def kept(self) -> None:
        pass


async def test_what_is_saved_while_reads_run_has_a_result_for_each(tmp_path: Path) -> None:
    gate, disk = Gate(), Disk()
    script: list[Answer] = [Reply([*look("a", "b"), change("x")]), Reply([Say("Done.")])]
    async with at_work(script, tmp_path, toolbox=box(gate)) as bench:
        bench.session.keep_pending_with(disk)
        bench.session.submit("go")
        await until(lambda: gate.running == ["a", "b"])
        texts = [str(message["content"]) for message in disk.saved[-1].traces[0].messages[1:]]
        assert ["it changed nothing" in text for text in texts] == [True, True, False]
        assert "not run" in texts[2]
        gate.let("a", "b", "x")
        await bench.log.wait_for_end()
