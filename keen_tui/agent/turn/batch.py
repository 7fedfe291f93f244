"""The calls of a step (turn.md rule 4): those that only read run side by side, all others one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from keen_tui.agent.turn.active_turn import ActiveTurn
from keen_tui.agent.turn.calls import NOT_BEGUN, NOT_RUN, RunningCall, skip_call
from keen_tui.agent.turn.settle import Broken, pending_of
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import Notice
from keen_tui.domain.messages import StepReply, ToolCall, ToolResult
from keen_tui.memory.pending import OpenStep, PendingState
from keen_tui.memory.unfinished import ended_midway
from keen_tui.system.threads import raise_if_cancelled, to_the_end

MOST_AT_ONCE = 8
"""The most calls that run side by side."""


async def run_batch(turn: ActiveTurn, setup: TurnSetup, reply: StepReply) -> Broken | None:
    """Run the calls of the reply. However this ends, every call has exactly one result, and the results are
    in the order of the reply. If a sub-agent was broken off, returns how, and the step stays open."""
    return await _run(_Batch(turn, setup, reply, {}))


async def run_open_step(turn: ActiveTurn, setup: TurnSetup, step: OpenStep) -> Broken | None:
    """Go on with the unfinished calls of a step, as `run_batch` does. The others keep their results."""
    calls = tuple(call for call, _ in step.calls)
    reply = StepReply(text=step.text, tool_calls=calls, stop_reason="tool_calls", native=step.native)
    return await _run(_Batch(turn, setup, reply, {call.id: result for call, result in step.calls}))


async def _run(batch: _Batch) -> Broken | None:
    try:
        await batch.run()
    finally:
        batch.close()
    return batch.broken


def keep_pending(turn: ActiveTurn, setup: TurnSetup) -> None:
    """Save what the turn would leave if it ended now, for users who want that."""
    setup.pending_store.note(setup.provider.identity, lambda: pending_of(turn.record(setup.clock())))


class _Begun(Struct):
    """A call that has begun and isn't reported yet, and the task that runs it; None: nothing of it runs."""

    call: RunningCall
    task: asyncio.Task[None] | None = None


class _Batch:
    """The calls of a reply. `earlier` are their results so far, by id."""

    def __init__(
        self, turn: ActiveTurn, setup: TurnSetup, reply: StepReply, earlier: Mapping[str, ToolResult]
    ) -> None:
        self.broken: Broken | None = None
        """How the first sub-agent that was broken off ended."""
        self._earlier = earlier
        self._results: dict[str, ToolResult] = {
            id: result for id, result in earlier.items() if not result.unfinished
        }
        self._turn = turn
        self._setup = setup
        self._reply = reply
        self._row: list[_Begun] = []
        """Calls that run side by side, in the order of the reply."""

    async def run(self) -> None:
        """Run the calls until a hook ends the turn, or a sub-agent is broken off: what runs beside it goes on
        to its end. An interrupt stops all that run, and passes."""
        try:
            for call in self._reply.tool_calls:
                if self._setup.hooks.wants_end is not None or self._is_broken:
                    break
                if call.id not in self._results:
                    await self._run(call)
            await self._report_row()
        except BaseException:
            await self._stop_row()
            raise
        finally:
            self._finish_row()

    def close(self) -> None:
        """Report the calls that didn't begin, and keep the step. Behind an unfinished call they are
        unfinished, too."""
        is_open = any(result.unfinished for result in self._results.values())
        for call in self._reply.tool_calls:
            if call.id not in self._results:
                result = NOT_BEGUN if is_open else NOT_RUN
                skip_call(self._turn.turn, self._turn.step, call, self._setup, result, self._note)
        self._turn.close_step(self._reply, self._with(self._results), self._setup.provider)
        keep_pending(self._turn, self._setup)

    @property
    def _is_broken(self) -> bool:
        return self.broken is not None or any(each.call.broken for each in self._row)

    def _with(self, results: Mapping[str, ToolResult]) -> list[tuple[ToolCall, ToolResult]]:
        """The calls that have one of these results, in the order of the reply."""
        return [(call, results[call.id]) for call in self._reply.tool_calls if call.id in results]

    async def _run(self, call: ToolCall) -> None:
        """Run the call, or let it run with the row if it only reads and nobody has to be asked. Every other
        call waits for the row first."""
        may_join = self._setup.toolbox.only_reads(call) and not self._setup.hooks.follows(call)
        if not may_join:
            await self._report_row()
        else:
            await self._make_room()
            if self._is_broken:
                return
        await self._keep_before(call)
        raise_if_cancelled()
        if note := self._turn.repeats.note(call):
            self._setup.publish(Notice(turn=self._turn.turn, text=note))
        earlier = self._earlier.get(call.id)
        begun = _Begun(RunningCall(self._turn.turn, self._turn.step, call, self._setup, earlier))
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
            self._finish_first()

    def _running(self) -> list[asyncio.Task[None]]:
        return [each.task for each in self._row if each.task and not each.task.done()]

    async def _stop_row(self) -> None:
        """Interrupt all calls of the row, and wait until each has its result."""
        running = self._running()
        for task in running:
            task.cancel()
        if running:
            await to_the_end(asyncio.wait(running))

    def _finish_row(self) -> None:
        """Report what is left of the row when it is interrupted."""
        while self._row:
            self._finish_first()

    def _finish_first(self) -> None:
        call = self._row.pop(0).call
        call.finish(self._note)
        self._turn.note_unknown(call.unknown_calls)
        self.broken = self.broken or call.broken

    def _note(self, call: ToolCall, result: ToolResult) -> None:
        self._results[call.id] = result
        self._turn.add_result(call, self._setup.toolbox.target(call), result)

    async def _keep_before(self, following: ToolCall) -> None:
        """Before the next call begins, save the state that will be true if the process dies while it runs
        (turn.md rule 9)."""
        self._setup.pending_store.note(self._setup.provider.identity, lambda: self._supposed(following))
        await self._setup.pending_store.kept()

    def _supposed(self, following: ToolCall) -> PendingState:
        """The pending state if the process dies while this call runs, or after it."""
        supposed, results = self._turn.copied(), dict(self._results)
        running = {each.call.given.id: each.call.given for each in self._row}
        if following.id not in results:
            running.setdefault(following.id, following)
        for call in running.values():
            result = results[call.id] = self._setup.agents.supposed(call) or ended_midway(call.name)
            supposed.add_result(call, self._setup.toolbox.target(call), result)
        is_open = any(result.unfinished for result in results.values())
        rest = {call.id: NOT_BEGUN if is_open else NOT_RUN for call in self._reply.tool_calls}
        supposed.close_step(self._reply, self._with({**rest, **results}), self._setup.provider)
        return pending_of(supposed.record(self._setup.clock()))
