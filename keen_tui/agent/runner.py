"""Runs a session's turns, summaries and commands, one at a time; queued messages are sent when one ends."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from keen_tui.agent.job_slot import JobSlot
from keen_tui.agent.session_state import SessionState
from keen_tui.agent.turn.active_turn import ActiveTurn
from keen_tui.agent.turn.calls import NOT_RUN, failed_result, with_changes
from keen_tui.agent.turn.compaction import compact
from keen_tui.agent.turn.context_meter import ContextMeter
from keen_tui.agent.turn.message_queue import MessageQueue
from keen_tui.agent.turn.run_attempt import run_attempt
from keen_tui.agent.turn.settle import Commit, Discard, Save, settle, with_step_closed
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    CompactionFailed,
    Event,
    MessageTakenBack,
    ModelChanged,
    Notice,
    ShellFinished,
    ShellStarted,
    ToolOutput,
    TurnAbandoned,
    TurnError,
    TurnStarted,
)
from keen_tui.domain.messages import GivenInstructions, Message, turn_memory
from keen_tui.domain.models import ModelInfo
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingState
from keen_tui.memory.policies import carried_bytes, policy_of
from keen_tui.memory.rendering import ABANDONED
from keen_tui.providers.wire.provider import Provider
from keen_tui.system.background_jobs import BackgroundJobs
from keen_tui.system.threads import in_thread_to_the_end


class Runner:
    """Puts a session's work into its job slot, and switches its model between two turns.

    Args:
        state: of the session; read when a job starts, and changed by what comes of it.
        job: the slot.
        queue: messages that wait.
        meter: is told of the requests of turns.
        background: for what runs beside a turn.
        publish: where the events go; they enter the conversation first.
    """

    def __init__(
        self,
        state: SessionState,
        job: JobSlot,
        queue: MessageQueue,
        meter: ContextMeter,
        background: BackgroundJobs,
        publish: Callable[[Event], None],
    ) -> None:
        self._state = state
        self._job = job
        self._queue = queue
        self._meter = meter
        self._background = background
        self._publish = publish

    def begin_turn(self, text: str) -> None:
        """Start the turn of a new message."""
        session = self._state.open
        session.attempt, session.failed_seconds = 0, 0.0
        self._start_turn(session.conversation.last_turn + 1, text)

    def retry_turn(self) -> None:
        """Start another attempt at the newest turn. Raises SessionRefused if that turn is done."""
        self._job.require_empty("retry")
        if not self._state.open.is_unanswered:
            raise SessionRefused("Nothing to retry: the last turn finished.")
        self._start_turn(self._state.open.conversation.last_turn, None)

    def discard_turn(self) -> None:
        """Abandon pending work, or remove the message of a failed turn. Raises SessionRefused if the last
        turn is done or something runs."""
        self._job.require_empty("discard")
        session = self._state.open
        if pending := session.pending:
            self.abandon(pending)
        elif session.is_unanswered:
            message = session.conversation.messages[-1]
            self._publish(MessageTakenBack(turn=message.turn, text=message.text))
        else:
            raise SessionRefused("Nothing to discard: the last turn finished.")

    def compact(self, focus: str) -> None:
        """Start a summary. Raises SessionRefused if something runs or nothing has been answered yet, or
        since the last summary."""
        self._job.require_empty("summarise")
        conversation = self._state.open.conversation
        if conversation.is_summary:
            already = "Nothing has been said since the last summary." if conversation.answered else ""
            raise SessionRefused(already or "Nothing to summarise yet.")

        def fail(detail: str) -> None:
            self._publish(CompactionFailed(reason="internal", detail=detail))

        self._job.start("summary", self._run_compaction(focus), "compaction", fail)

    def run_command(self, command: str, *, is_check: bool = False) -> None:
        """Start a command of the user, or the check of a run. Raises SessionRefused if something runs."""
        self._job.require_empty("run a command")

        def fail(detail: str) -> None:
            self._publish(Notice(turn=0, text=detail))

        self._job.start("command", self._run_command(command, is_check=is_check), "own command", fail)

    def switch(self, provider: Provider, info: ModelInfo, *, abandon: bool) -> None:
        """Use another model from the next turn on, and carry pending state over to it. Raises SessionRefused
        if something runs, or if pending state would be lost and `abandon` isn't set."""
        self._job.require_empty("switch")
        session = self._state.open
        old = session.setup.provider
        if pending := old.pending:
            provider.pending = provider.adopt(pending, old.identity)
            if provider.pending:
                session.setup.pending_store.keep(provider.identity, provider.pending)
            elif abandon:
                self.abandon(pending)
            else:
                raise SessionRefused(
                    "Another model can't continue the incomplete turn: retry it with the model that began it."
                )
        session.setup = replace(session.setup, provider=provider, price=info.price)
        self._state.info = info
        self._background.add(old.close())
        self._publish(
            ModelChanged(
                model=provider.model,
                server=provider.server,
                effort=provider.effort,
                context_window=info.context_window,
            )
        )

    async def run_to_end(self, title: str, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action, even if the caller is cancelled, then send what was queued meanwhile."""

        async def alone() -> None:
            try:
                await action()
            finally:
                self._job.leave()
                self.send_queued()

        await self._job.run_to_end("undo", alone(), title)

    def send_queued(self) -> None:
        """Start a turn with the oldest queued message, unless the session is being halted."""
        if not self._job.halting and (text := self._queue.next()):
            self.begin_turn(text)

    def keep(self, pending: PendingState | None) -> None:
        """Set the pending state, None for none, and save it to the disk if the user wants that."""
        setup = self._state.open.setup
        setup.provider.pending = pending
        setup.pending_store.keep(setup.provider.identity, pending)

    def abandon(self, pending: PendingState) -> None:
        """Abandon the incomplete turns. Their facts stay remembered."""
        memory = turn_memory(pending.all_facts)
        conversation = self._state.open.conversation
        reply = Message(
            role="assistant", text=ABANDONED, turn=conversation.last_turn, memory=memory, by_program=True
        )
        done = conversation.past.steps
        steps = [step for trace in pending.traces for step in done.get(trace.turn, ())]
        self.keep(None)
        self._background.add(self._state.open.setup.agents.dismiss(pending.open_step))
        self._publish(
            TurnAbandoned(
                turn=conversation.last_turn,
                turn_memory=memory,
                carried_bytes=carried_bytes(self._state.policy, reply, steps),
                trace_bytes=pending.trace_bytes,
                whole_bytes=carried_bytes(policy_of("full-trace"), reply, steps),
            )
        )

    def _start_turn(self, number: int, text: str | None) -> None:
        session = self._state.open
        session.attempt += 1
        if text is not None:
            self._close_open_step()
        pending = session.pending
        calls = pending.calls if pending else 0
        self._publish(TurnStarted(turn=number, attempt=session.attempt, text=text, recovering=calls))
        turn = ActiveTurn(
            turn=number,
            attempt=session.attempt,
            past=session.conversation.past,
            policy=self._state.policy,
            injected=pending,
            seconds_before=session.failed_seconds,
            started_at=session.setup.clock(),
            facts=list(pending.facts) if pending else [],
            open_step=pending.open_step if pending else None,
        )
        session.setup.nested.begin_turn(_instructions_in(pending, turn.past) if pending else None)
        self._background.add(self._notice_instructions())
        self._job.start("turn", self._run_turn(turn), f"turn {number}", self._fail_turn)

    def _close_open_step(self) -> None:
        """Another message follows a step with unfinished calls: nobody goes on with them."""
        setup, pending = self._state.open.setup, self._state.open.pending
        if pending and pending.open_step:
            self.keep(with_step_closed(pending, self._state.policy, setup.provider.tool_results))
            self._background.add(setup.agents.dismiss(pending.open_step))

    async def _run_turn(self, turn: ActiveTurn) -> None:
        session = self._state.open
        conversation, setup = session.conversation, session.setup
        ending = await run_attempt(
            turn, conversation, setup, self._meter, self._state.most_tokens, self._state.context_window
        )
        past = conversation.past.steps
        turns = dict.fromkeys(message.turn for message in conversation.unanswered)
        steps = tuple(step for number in turns for step in past.get(number, ()))
        settlement = settle(replace(turn.record(setup.clock()), steps=steps), ending)
        self.keep(settlement.pending if isinstance(settlement, Save) else None)
        if not (isinstance(settlement, Save) and settlement.pending.open_step):
            self._background.add(setup.agents.dismiss())
        session.failed_seconds = settlement.event.seconds if isinstance(settlement, Discard) else 0.0
        self._job.leave()
        self._publish(settlement.event)
        self._queue.at_end()
        if isinstance(settlement, Commit):
            self.send_queued()

    def _fail_turn(self, detail: str) -> None:
        session = self._state.open
        turn = session.conversation.last_turn
        self._publish(
            TurnError(turn=turn, attempt=session.attempt, reason="internal", detail=detail, seconds=0.0)
        )
        self._queue.at_end()

    async def _run_compaction(self, focus: str) -> None:
        session = self._state.open
        past, answered = session.conversation.past, session.conversation.answered
        await compact(past, answered, self._state.policy, session.setup, focus)
        self._leave_and_send()

    async def _run_command(self, command: str, *, is_check: bool) -> None:
        session = self._state.open
        await run_own_command(session.conversation.last_turn, command, session.setup, is_check=is_check)
        self._leave_and_send()

    def _leave_and_send(self) -> None:
        self._job.leave()
        if not (self._job.stopping or self._state.open.is_unanswered):
            self.send_queued()

    async def _notice_instructions(self) -> None:
        if changed := await self._state.open.instructions.changed():
            self._publish(Notice(turn=0, text=changed))


def _instructions_in(pending: PendingState, past: Past) -> list[GivenInstructions]:
    """The files of instructions that were given with results of the pending turns."""
    steps = (step for trace in pending.traces for step in past.steps.get(trace.turn, ()))
    return [file for step in steps for _, result in step.calls for file in result.instructions]


async def run_own_command(turn: int, command: str, setup: TurnSetup, *, is_check: bool = False) -> None:
    """Run the command and publish its output and its end. `turn` is the newest turn. Cancelling stops it."""
    call_id = f"shell-{secrets.token_hex(4)}"
    watch = setup.toolbox.watch
    setup.publish(ShellStarted(turn=turn, id=call_id, command=command, is_check=is_check))
    started_at = setup.clock()

    def show(text: str, lines: int, size: int) -> None:
        setup.publish(ToolOutput(turn=turn, id=call_id, text=text, lines=lines, bytes=size))

    try:
        if watch:
            await asyncio.to_thread(watch.begin)
        result = await setup.toolbox.own_commands.run(command, show)
    except asyncio.CancelledError:
        result = NOT_RUN
    except Exception as error:
        result = failed_result(error, ran=True)
    seconds = setup.clock() - started_at
    if watch:
        changes = await in_thread_to_the_end(lambda: watch.end(keeps=False))
        result = with_changes(result, replace(changes, facts=()))
    setup.publish(
        ShellFinished(
            turn=turn, id=call_id, command=command, result=result, seconds=seconds, is_check=is_check
        )
    )
