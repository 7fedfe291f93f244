"""The session owns the conversation and runs one turn at a time. Front ends talk to it and read its bus."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from keen_tui.agent.approvals import Approvals
from keen_tui.agent.loop import WorkingTurn, run_turn
from keen_tui.agent.parts import Agent
from keen_tui.agent.prompt import system_prompt
from keen_tui.agent.retries import RetryPolicy
from keen_tui.agent.settle import Commit, Discard, Save, Settlement, settle
from keen_tui.bus import EventBus
from keen_tui.errors import SessionRefused
from keen_tui.events import (
    MessageTakenBack,
    Mode,
    ModeChanged,
    ModelChanged,
    QueueChanged,
    TurnAbandoned,
    TurnStarted,
)
from keen_tui.memory.pending import PendingState
from keen_tui.memory.recorder import turn_memory
from keen_tui.memory.rendering import ABANDONED, render_assistant
from keen_tui.messages import Message
from keen_tui.models import ModelInfo
from keen_tui.providers.base import Identity, Provider
from keen_tui.tools.toolbox import Toolbox


class Session:
    """A conversation with an agent in one workspace.

    Args:
        attended: whether somebody can answer approvals.
        max_steps: model calls a turn may make before it ends as incomplete.
        info: what is known of the model: its context window and its price.
    """

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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.workspace = workspace
        self.info = info
        self.bus = EventBus()
        self._approvals = Approvals(self.bus.publish, mode=mode, attended=attended)
        self._agent = Agent(
            provider=provider,
            price=info.price if info else None,
            toolbox=toolbox,
            approvals=self._approvals,
            system=system_prompt(workspace),
            publish=self.bus.publish,
            clock=clock,
            max_steps=max_steps,
            retries=retries or RetryPolicy(),
        )
        self._conversation: list[Message] = []
        self._queue: deque[str] = deque()
        self._attempt = 0
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def conversation(self) -> tuple[Message, ...]:
        """What later turns are built from."""
        return tuple(self._conversation)

    @property
    def pending(self) -> PendingState | None:
        """What incomplete turns left, waiting for retry or discard."""
        return self._agent.provider.pending

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._task is not None

    @property
    def queue(self) -> tuple[str, ...]:
        """Messages that wait for the running turn to be done, oldest first."""
        return tuple(self._queue)

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._approvals.mode

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

    def warm_up(self) -> None:
        """Import the SDK in the background, so that the first request need not wait for it."""
        threading.Thread(target=self._agent.provider.load, name="load-sdk", daemon=True).start()

    def submit(self, text: str) -> None:
        """Send a message: starts a turn, or queues it while one runs. Blank messages are ignored."""
        if not text.strip():
            return
        if self.running:
            self._queue.append(text)
            self._publish_queue()
        else:
            self._begin(text)

    def retry(self) -> None:
        """Go on with the turn that ended incomplete or failed. Adds no user message (turn.md rule 2).

        Raises:
            SessionRefused: a turn runs, or there is nothing to retry.
        """
        self._require_idle("retry")
        if not self._unanswered:
            raise SessionRefused("There is nothing to retry: the last turn is done.")
        self._start(self._conversation[-1].turn, None)

    def discard(self) -> None:
        """Give up the incomplete turns, or take the message of a failed turn back.

        Abandoned work stays remembered: an assistant message with its TurnMemory is appended.

        Raises:
            SessionRefused: a turn runs, or there is nothing to discard.
        """
        self._require_idle("discard")
        if self.pending:
            self._abandon(self.pending)
        elif self._unanswered:
            message = self._conversation.pop()
            self.bus.publish(MessageTakenBack(turn=message.turn, text=message.text))
        else:
            raise SessionRefused("There is nothing to discard: the last turn is done.")

    def stop(self) -> None:
        """Interrupt the running turn; it still ends with its end event. No effect when idle."""
        if self._task and not self._stopping:
            self._stopping = True
            # Not at once: a task that was never entered would be cancelled without an end event.
            asyncio.get_running_loop().call_soon(self._task.cancel)

    def answer(self, call_id: str, *, allow: bool, for_session: bool = False, message: str = "") -> None:
        """Answer the approval of a call. A message with a no is told to the model.

        Raises:
            SessionRefused: that approval is not open.
        """
        self._approvals.answer(call_id, allow=allow, for_session=for_session, message=message)

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call on."""
        self._approvals.mode = mode
        self.bus.publish(ModeChanged(mode=mode))

    def would_abandon(self, provider: Provider) -> bool:
        """Whether a switch to this provider would lose the pending state (turn.md rule 8)."""
        pending = self.pending
        return pending is not None and provider.adopt(pending, self.identity) is None

    def switch(self, provider: Provider, info: ModelInfo, *, abandon: bool = False) -> None:
        """Speak with another model from the next turn on.

        Pending state goes over where the new provider can send it. Where it can't, it is abandoned if
        `abandon` says so.

        Raises:
            SessionRefused: a turn runs, or pending state would be lost unasked.
        """
        self._require_idle("switch")
        old = self._agent.provider
        if pending := old.pending:
            provider.pending = provider.adopt(pending, old.identity)
            if provider.pending is None:
                if not abandon:
                    raise SessionRefused("The incomplete turn can't go on with another model: retry it.")
                self._abandon(pending)
        self._agent = replace(self._agent, provider=provider, price=info.price)
        self.info = info
        self._close_soon(old)
        self.bus.publish(
            ModelChanged(
                model=provider.model,
                server=provider.server,
                effort=provider.effort,
                context_window=info.context_window,
            )
        )

    def withdraw_queued(self) -> str | None:
        """Take the newest queued message back, for example to edit it."""
        if not self._queue:
            return None
        text = self._queue.pop()
        self._publish_queue()
        return text

    async def wait_until_idle(self) -> None:
        """Wait until no turn runs and none is about to."""
        while self._task:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """Stop the running turn, wait for its end, close the provider and let the bus run dry."""
        self._queue.clear()
        self.stop()
        await self.wait_until_idle()
        await self._agent.provider.close()
        await asyncio.gather(*self._closing)
        self.bus.close()

    def _close_soon(self, provider: Provider) -> None:
        closing = asyncio.create_task(provider.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    @property
    def _unanswered(self) -> bool:
        return bool(self._conversation) and self._conversation[-1].role == "user"

    def _require_idle(self, action: str) -> None:
        if self.running:
            raise SessionRefused(f"A turn is running: stop it first (esc), then {action}.")

    def _begin(self, text: str) -> None:
        turn = self._conversation[-1].turn + 1 if self._conversation else 1
        self._conversation.append(Message(role="user", text=text, turn=turn))
        self._attempt = 0
        self._start(turn, text)

    def _start(self, turn: int, text: str | None) -> None:
        self._attempt += 1
        self._stopping = False
        working = WorkingTurn(
            turn=turn,
            attempt=self._attempt,
            conversation=self.conversation,
            injected=self.pending,
            started_at=self._agent.clock(),
        )
        calls = self.pending.calls if self.pending else 0
        self.bus.publish(TurnStarted(turn=turn, attempt=self._attempt, text=text, recovering=calls))
        self._task = asyncio.create_task(self._run(working), name=f"turn {turn}")

    async def _run(self, working: WorkingTurn) -> None:
        ending = await run_turn(working, self._agent)
        settlement = settle(working.record(self._agent.clock()), ending)
        self._apply(settlement)
        self._task = None
        self.bus.publish(settlement.event)
        if isinstance(settlement, Commit) and self._queue:
            self._begin(self._queue.popleft())
            self._publish_queue()

    def _apply(self, settlement: Settlement) -> None:
        match settlement:
            case Commit(message=message):
                self._conversation.append(message)
                self._agent.provider.pending = None
            case Save(pending=pending):
                self._agent.provider.pending = pending
            case Discard():
                pass

    def _abandon(self, pending: PendingState) -> None:
        memory = turn_memory(pending.facts)
        turn = self._conversation[-1].turn
        self._conversation.append(Message(role="assistant", text=ABANDONED, turn=turn, memory=memory or None))
        self._agent.provider.pending = None
        self.bus.publish(
            TurnAbandoned(
                turn=turn,
                turn_memory=memory,
                carried_bytes=len(render_assistant(ABANDONED, memory).encode("utf-8", "replace")),
                trace_bytes=pending.trace_bytes,
            )
        )

    def _publish_queue(self) -> None:
        self.bus.publish(QueueChanged(texts=self.queue))
