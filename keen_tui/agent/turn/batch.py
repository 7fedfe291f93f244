"""The calls of a step (turn.md rule 4): those that only read run side by side, all others one by one."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from keen_tui.agent.turn.active_turn import ActiveTurn
from keen_tui.agent.turn.calls import NOT_RUN, RunningCall, skip_call
from keen_tui.agent.turn.settle import pending_of
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import Notice
from keen_tui.domain.messages import StepReply, ToolCall, ToolResult
from keen_tui.memory.unfinished import ended_midway

MOST_AT_ONCE = 8
"""The most calls that run side by side."""


async def run_batch(turn: ActiveTurn, setup: TurnSetup, reply: StepReply) -> None:
    """Run the calls of the reply. However this ends, every call has exactly one result in the trace, and the
    results are in the order of the reply."""
    batch = _Batch(turn, setup, reply)
    try:
        await batch.run()
    finally:
        batch.skip_the_rest()
        turn.add_step(reply, setup.provider.tool_results(batch.results))
        keep_pending(turn, setup)


def keep_pending(turn: ActiveTurn, setup: TurnSetup) -> None:
    """Save what the turn would leave if it ended now, for users who want that."""
    if setup.pending_store.store:
        setup.pending_store.keep(setup.provider.identity, pending_of(turn.record(setup.clock())))


class _Begun(Struct):
    """A call that has begun and isn't reported yet, and the task that runs it; None: nothing of it runs."""

    call: RunningCall
    task: asyncio.Task[None] | None = None


class _Batch:
    def __init__(self, turn: ActiveTurn, setup: TurnSetup, reply: StepReply) -> None:
        self.results: list[tuple[ToolCall, ToolResult]] = []
        self._turn = turn
        self._setup = setup
        self._reply = reply
        self._row: list[_Begun] = []
        """Calls that run side by side, in the order of the reply."""

    async def run(self) -> None:
        """Run the calls until a hook ends the turn. An interrupt stops all that run, and passes."""
        try:
            for call in self._reply.tool_calls:
                if self._setup.hooks.wants_end is not None:
                    break
                await self._run(call)
            await self._report_row()
        except BaseException:
            await self._stop_row()
            raise
        finally:
            self._finish_row()

    def skip_the_rest(self) -> None:
        """Report the calls that didn't begin."""
        for call in self._reply.tool_calls[len(self.results) :]:
            skip_call(self._turn.turn, self._turn.step, call, self._setup, self._note)

    async def _run(self, call: ToolCall) -> None:
        """Run the call, or let it run with the row if it only reads and nobody has to be asked. Every other
        call waits for the row first."""
        may_join = self._setup.toolbox.only_reads(call) and not self._setup.hooks.follows(call)
        if not may_join:
            await self._report_row()
        else:
            await self._make_room()
        await self._keep_before()
        if note := self._turn.repeats.note(call):
            self._setup.publish(Notice(turn=self._turn.turn, text=note))
        begun = _Begun(RunningCall(self._turn.turn, self._turn.step, call, self._setup))
        begun.call.start()
        self._row.append(begun)
        await begun.call.check()
        if may_join and begun.call.asks_nobody:
            begun.task = asyncio.create_task(begun.call.run())
            return
        await self._report_row(but=1)
        await begun.call.run()
        await self._report_row()

    async def _make_room(self) -> None:
        """Wait until another call may join the row, and report those in front that have ended."""
        running = self._running()
        while len(running) >= MOST_AT_ONCE:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            running = self._running()
        ended = next((place for place, each in enumerate(self._row) if each.task in running), len(self._row))
        await self._report_row(but=len(self._row) - ended)

    async def _report_row(self, *, but: int = 0) -> None:
        """Wait for the calls of the row, except the last `but`, and report them in order."""
        while len(self._row) > but:
            first = self._row[0]
            if first.task:
                await asyncio.wait({first.task})
                first.task.result()
            await first.call.conclude()
            self._row.pop(0).call.finish(self._note)

    def _running(self) -> list[asyncio.Task[None]]:
        return [each.task for each in self._row if each.task and not each.task.done()]

    async def _stop_row(self) -> None:
        """Interrupt all calls of the row, and wait until each has its result."""
        running = self._running()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _finish_row(self) -> None:
        """Report what is left of the row when it is interrupted."""
        while self._row:
            self._row.pop(0).call.finish(self._note)

    def _note(self, call: ToolCall, result: ToolResult) -> None:
        self.results.append((call, result))
        self._turn.add_result(call, self._setup.toolbox.target(call), result)

    async def _keep_before(self) -> None:
        """Before the next call begins, save the state that will be true if the process dies while it runs
        (turn.md rule 9)."""
        if self._setup.pending_store.store is None:
            return
        done, begun = len(self.results), len(self.results) + len(self._row) + 1
        calls = self._reply.tool_calls
        cut = [(call, ended_midway(call.name)) for call in calls[done:begun]]
        supposed = self._turn.copied()
        for call, result in cut:
            supposed.add_result(call, self._setup.toolbox.target(call), result)
        results = (*self.results, *cut, *((call, NOT_RUN) for call in calls[begun:]))
        supposed.add_step(self._reply, self._setup.provider.tool_results(results))
        self._setup.pending_store.keep(
            self._setup.provider.identity, pending_of(supposed.record(self._setup.clock()))
        )
        await self._setup.pending_store.kept()
