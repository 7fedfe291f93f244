"""A session at work: the one turn, summary or command that runs, from its beginning to its end event."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

from msgspec.structs import replace

from keen_tui.agent.compaction import compact
from keen_tui.agent.session_past import SessionPast
from keen_tui.agent.turn.active_turn import WorkingTurn
from keen_tui.agent.turn.images import images_of, publish_images
from keen_tui.agent.turn.loop import broken_by_bug, run_turn
from keen_tui.agent.turn.request_size import Measured, measured_request
from keen_tui.agent.turn.settle import Broken, Commit, Discard, Ending, Save, Settlement, settle
from keen_tui.agent.user_command import run_own_command
from keen_tui.domain.events import CompactionFailed, Notice, TurnError, TurnStarted
from keen_tui.memory.pending import PendingState
from keen_tui.memory.recorder import Recorder

log = logging.getLogger(__name__)


class SessionWork(SessionPast):
    """Runs one thing at a time; what waited is sent when it is over."""

    def _begin(self, text: str) -> None:
        self._attempt, self._failed_seconds = 0, 0.0
        self._start(self._conversation.last_turn + 1, text)

    def _start(self, turn: int, text: str | None) -> None:
        self._attempt += 1
        pending = self.pending
        calls = pending.calls if pending else 0
        self._publish(TurnStarted(turn=turn, attempt=self._attempt, text=text, recovering=calls))
        working = WorkingTurn(
            turn=turn,
            attempt=self._attempt,
            past=self._conversation.past,
            policy=self._policy,
            injected=pending,
            seconds_before=self._failed_seconds,
            started_at=self._agent.clock(),
            recorder=Recorder(pending.facts if pending else ()),
        )
        self._beside(self._tell_of_instructions())
        self._begin_task(self._run(working), f"turn {turn}")

    def _begin_task(self, deed: Coroutine[None, None, None], name: str) -> None:
        self._stopping = False
        self._task = asyncio.create_task(deed, name=name)
        self._task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        """What a bug ended gets its end event all the same, and the session goes on."""
        if self._task is not task:
            return
        was_summary, self._task, self._compacting = self._compacting, None, False
        was_own, self._runs_own_command = self._runs_own_command, False
        bug = None if task.cancelled() else task.exception()
        log.error("%s ended by a bug", task.get_name(), exc_info=bug)
        detail = f"Keen itself failed ({bug!r})."
        if was_own:
            self._publish(Notice(turn=0, text=detail))
        elif was_summary:
            self._publish(CompactionFailed(reason="internal", detail=detail))
        else:
            end = TurnError(
                turn=self.turn, attempt=self._attempt, reason="internal", detail=detail, seconds=0.0
            )
            self._publish(end)
            self._waiting.at_end()

    async def _run(self, working: WorkingTurn) -> None:
        ending = await self._ended(working)
        steps = self._conversation.past.steps.get(working.turn, ())
        settlement = settle(replace(working.record(self._agent.clock()), steps=steps), ending)
        self._apply(settlement)
        self._failed_seconds = settlement.event.seconds if isinstance(settlement, Discard) else 0.0
        self._task = None
        self._publish(settlement.event)
        self._waiting.at_end()
        if isinstance(settlement, Commit):
            self._send_queued()

    async def _ended(self, working: WorkingTurn) -> Ending:
        try:
            await self._attach_images(working)
            return await self._make_room(working) or await run_turn(working, self._agent)
        except asyncio.CancelledError:
            return Broken(reason="interrupted", detail=self._why_stopped)
        except Exception as error:
            return broken_by_bug(working.turn, error)

    async def _attach_images(self, working: WorkingTurn) -> None:
        """Read the images that the message names, and those of messages before it whose turns ended before
        they were read."""
        traced = {trace.turn for trace in working.traces}
        for message in self._conversation.unanswered:
            if not message.images and message.turn not in traced:
                publish_images(message.turn, await images_of(message.text, self._agent), self._agent)
        working.past = self._conversation.past

    async def _run_compaction(self, focus: str) -> None:
        await compact(self._conversation.past, self._conversation.answered, self._policy, self._agent, focus)
        self._compacting = False
        self._task = None
        if not (self._stopping or self._unanswered):
            self._send_queued()

    async def _run_own(self, command: str) -> None:
        await run_own_command(self.turn, command, self._agent)
        self._runs_own_command, self._task = False, None
        if not (self._stopping or self._unanswered):
            self._send_queued()

    async def _make_room(self, working: WorkingTurn) -> Broken | None:
        """Summarise before the turn's first request, where that would nearly fill the context window."""
        answered = self._conversation.answered
        limit = (self.context_window or 0) * self._compact_at / 100
        size = await self._measured(working)
        if not limit or self._size.tokens(size) <= limit or all(message.by_program for message in answered):
            return None
        end = await compact(working.past, answered, working.policy, self._agent, "", automatic=True)
        if isinstance(end, CompactionFailed) and end.reason == "interrupted":
            return Broken(reason="interrupted", detail=self._why_stopped)
        working.past = self._conversation.past
        await self._measured(working)
        return None

    async def _measured(self, working: WorkingTurn) -> Measured:
        """The turn's first request, measured in a thread: that of a long session takes a while."""
        traces = working.traces
        measured = await asyncio.to_thread(
            measured_request, working.past, traces, working.policy, self._agent
        )
        self._size.expect(measured)
        self._meter.begin(measured)
        return measured

    def _send_queued(self) -> None:
        if not self._halting and (text := self._waiting.next()):
            self._begin(text)

    def _apply(self, settlement: Settlement) -> None:
        match settlement:
            case Save(pending=pending):
                self._keep(pending)
            case Commit() | Discard():
                self._keep(None)

    def _keep(self, pending: PendingState | None) -> None:
        provider = self._agent.provider
        provider.pending = pending
        if self._agent.keeper:
            self._agent.keeper.keep(provider.identity, pending)
