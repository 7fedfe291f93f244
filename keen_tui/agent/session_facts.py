"""What a session is made of, and what it tells of itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

from keen_tui.agent.context import with_draft
from keen_tui.agent.context_meter import ContextMeter
from keen_tui.agent.instructions import NO_INSTRUCTIONS, Instructions
from keen_tui.agent.turn.approvals import Approvals
from keen_tui.agent.turn.message_queue import Waiting
from keen_tui.agent.turn.questions import UserQuestions
from keen_tui.agent.turn.request_size import Measured, RequestSize, measured_request
from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.agent.turn.turn_context import Agent
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import Mode, Network, PolicyName
from keen_tui.domain.errors import STOPPED, SessionRefused
from keen_tui.domain.events import Event, Notice, Usage
from keen_tui.domain.messages import Message
from keen_tui.domain.models import Identity, ModelInfo
from keen_tui.memory.conversation import Conversation, Past
from keen_tui.memory.pending import PendingState
from keen_tui.memory.policies import policy_of
from keen_tui.providers.base import Provider
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.permissions.rules import NO_RULES, Rules
from keen_tui.tools.toolbox import Toolbox


class SessionFacts:
    """The parts of a session: its agent, its conversation, its bus.

    Args:
        attended: whether somebody can answer approvals.
        max_steps: model calls a turn may make before it ends as incomplete.
        info: what is known of the model: its context window and its price.
        policy: how much of a finished turn later turns get.
        compact_at: percent of the context window at which the conversation is summarised by itself, 0: never.
        network: what becomes of hosts that commands want to reach and no rule is about.
        instruct: reads the instructions for the system prompt, in a thread; None: there are none.
    """

    is_replay = False

    def __init__(
        self,
        *,
        workspace: Path,
        provider: Provider,
        toolbox: Toolbox,
        mode: Mode = "ask",
        attended: bool = True,
        max_steps: int = 100,
        retries: RetryPolicy | None = None,
        info: ModelInfo | None = None,
        policy: PolicyName = "summary",
        compact_at: int = 85,
        rules: Rules = NO_RULES,
        allowances: Allowances | None = None,
        network: Network = "ask",
        instruct: Callable[[], Instructions] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.workspace = workspace
        self.info = info
        self.bus = EventBus()
        work_clock = WorkClock(clock)
        self._approvals = Approvals(
            self._publish,
            mode=mode,
            attended=attended,
            waiting=work_clock.standing,
            rules=rules,
            allowances=allowances,
            network=network,
        )
        self._questions = UserQuestions(self._publish, attended=attended, waiting=work_clock.standing)
        self._waiting = Waiting(self._publish)
        self._agent = Agent(
            provider=provider,
            price=info.price if info else None,
            toolbox=toolbox,
            approvals=self._approvals,
            questions=self._questions,
            workspace=workspace,
            publish=self._publish,
            clock=work_clock,
            max_steps=max_steps,
            retries=retries or RetryPolicy(),
            steered=self._waiting.at_boundary,
            why_stopped=lambda: self._why_stopped,
        )
        self._policy = policy_of(policy)
        self._compact_at = compact_at
        self._size = RequestSize()
        self._meter = ContextMeter(self._size, self._next_request, self.bus.publish, self._beside)
        self._conversation = Conversation()
        self._attempt = 0
        self._failed_seconds = 0.0
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._why_stopped = STOPPED
        self._halting = False
        self._is_closed = False
        self._compacting = False
        self._runs_own_command = False
        self._instruct = instruct
        self._told_of = ""
        self._errands: set[asyncio.Task[None]] = set()

    @property
    def turn(self) -> int:
        """Number of the newest turn, 0 before the first."""
        return self._conversation.last_turn

    @property
    def past(self) -> Past:
        """The conversation with the steps of its turns."""
        return self._conversation.past

    @property
    def conversation(self) -> tuple[Message, ...]:
        """What later turns are built from."""
        return self._conversation.messages

    @property
    def pending(self) -> PendingState | None:
        """What incomplete turns left, waiting for retry or discard."""
        return self._agent.provider.pending

    @property
    def running(self) -> bool:
        """Whether a turn, a compaction or the user's own command runs, or is waited for with `halt`."""
        return self._task is not None or self._halting

    @property
    def queue(self) -> tuple[str, ...]:
        """Messages that wait for the running turn to be done, oldest first."""
        return self._waiting.queued

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._approvals.mode

    @property
    def policy(self) -> PolicyName:
        """The memory policy."""
        return self._policy.name

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._agent.provider.model

    @property
    def server(self) -> str:
        """Where the model is served, in a word or as host and port."""
        return self._agent.provider.server

    @property
    def effort(self) -> str:
        """How hard it shall reason, "" for its own default."""
        return self._agent.provider.effort

    @property
    def identity(self) -> Identity:
        """What pending state belongs to: API, base URL and model together."""
        return self._agent.provider.identity

    @property
    def context_window(self) -> int | None:
        """Tokens that the model takes in all, or None when that is not known."""
        return self.info.context_window if self.info else None

    @property
    def _unanswered(self) -> bool:
        return bool(self._conversation.unanswered)

    async def read_instructions(self) -> Instructions:
        """The instructions as they stand in their files now."""
        return await asyncio.to_thread(self._instruct) if self._instruct else NO_INSTRUCTIONS

    async def _tell_of_instructions(self) -> None:
        """Say once of each change on the disk that it is not used: providers keep what begins as before."""
        if self._instruct is None:
            return
        now, used = await self.read_instructions(), self._agent.instructions
        if now.text not in (used.text, self._told_of):
            name = now.label or used.label
            said = f"{name} has changed. This session continues as it began: /new or /fork reads it again."
            self._publish(Notice(turn=0, text=said))
        self._told_of = now.text

    def _next_request(self) -> Callable[[], Measured] | None:
        """Measures what the next request holds without its message; None while something runs."""
        if self.running or self._is_closed:
            return None
        past, traces = with_draft(self._conversation.past), self.pending.traces if self.pending else ()
        return partial(measured_request, past, traces, self._policy, self._agent)

    def _beside(self, deed: Coroutine[None, None, None]) -> None:
        """Do it beside everything else; `close` waits for it."""
        task = asyncio.create_task(deed)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    def _require_idle(self, action: str) -> None:
        if self.running:
            what = "A summary is being written" if self._compacting else "A turn is running"
            what = "Your command is running" if self._runs_own_command else what
            raise SessionRefused(f"{what}: stop it first, then {action}.")

    def _publish(self, event: Event) -> None:
        """The conversation goes on by the event first; then everybody is told."""
        self._conversation.take(event)
        if isinstance(event, Usage) and self.running:  # not when a session of the past is opened
            self._size.note(event)
        self.bus.publish(event)
        self._meter.note(event)
