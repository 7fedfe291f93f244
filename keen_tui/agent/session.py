"""The session owns the conversation and runs one turn at a time. Front ends talk to it and read its bus."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from keen_tui.agent.approvals import Approvals
from keen_tui.agent.compaction import compact
from keen_tui.agent.context import RequestSize, report
from keen_tui.agent.loop import broken_by_bug, run_turn
from keen_tui.agent.parts import Agent, PendingKeeper
from keen_tui.agent.request import step_request
from keen_tui.agent.retries import RetryPolicy
from keen_tui.agent.settle import Broken, Commit, Discard, Ending, Save, Settlement, settle
from keen_tui.agent.working import WorkingTurn
from keen_tui.bus import EventBus
from keen_tui.errors import STOPPED, SessionRefused
from keen_tui.events import (
    CompactionFailed,
    Event,
    MemoryEdited,
    MessageTakenBack,
    Mode,
    ModeChanged,
    ModelChanged,
    PolicyChanged,
    PolicyName,
    QueueChanged,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    TurnAbandoned,
    TurnStarted,
    TurnUndone,
    Usage,
)
from keen_tui.history import ContextReport
from keen_tui.memory.conversation import Conversation, Past
from keen_tui.memory.pending import PendingState
from keen_tui.memory.policies import policy_of
from keen_tui.memory.recorder import turn_memory
from keen_tui.memory.rendering import ABANDONED, rendered_bytes
from keen_tui.messages import Message, TurnMemory
from keen_tui.models import Identity, ModelInfo
from keen_tui.providers.base import Provider
from keen_tui.tools.toolbox import Toolbox


class Session:
    """A conversation with an agent in one workspace.

    Args:
        attended: whether somebody can answer approvals.
        max_steps: model calls a turn may make before it ends as incomplete.
        info: what is known of the model: its context window and its price.
        policy: how much of a finished turn later turns get.
        compact_at: percent of the context window at which the conversation is summarised by itself, 0: never.
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
        policy: PolicyName = "summary",
        compact_at: int = 85,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.workspace = workspace
        self.info = info
        self.bus = EventBus()
        self._approvals = Approvals(self._publish, mode=mode, attended=attended)
        self._agent = Agent(
            provider=provider,
            price=info.price if info else None,
            toolbox=toolbox,
            approvals=self._approvals,
            workspace=workspace,
            publish=self._publish,
            clock=clock,
            max_steps=max_steps,
            retries=retries or RetryPolicy(),
        )
        self._policy = policy_of(policy)
        self._compact_at = compact_at
        self._size = RequestSize()
        self._conversation = Conversation()
        self._queue: deque[str] = deque()
        self._attempt = 0
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._compacting = False
        self._closing: set[asyncio.Task[None]] = set()

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
        """Whether a turn or a compaction runs."""
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
        self._start(self._conversation.last_turn, None)

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
            message = self._conversation.messages[-1]
            self._publish(MessageTakenBack(turn=message.turn, text=message.text))
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
        self._publish(ModeChanged(mode=mode))

    def set_policy(self, policy: PolicyName) -> None:
        """Change the memory policy, from the next turn on."""
        self._policy = policy_of(policy)
        self._publish(PolicyChanged(policy=policy))

    def edit_memory(self, turn: int, memory: TurnMemory) -> None:
        """Set what is remembered of a turn.

        Raises:
            SessionRefused: a turn runs, or no message stands for that one.
        """
        self._require_idle("change what is remembered")
        if self._conversation.memory_of(turn) is None:
            raise SessionRefused(f"No message stands for turn {turn}: it is not answered, or was summarised.")
        text = self._conversation.text_of(turn)
        carried = rendered_bytes(text, memory)
        self._publish(MemoryEdited(turn=turn, turn_memory=memory, carried_bytes=carried))

    def compact(self, focus: str = "") -> None:
        """Have the model summarise the conversation; `stop` cancels it. Pending work stays as it is.

        What was queued meanwhile is sent afterwards, even if no summary came, but not after a `stop`: then
        it waits for the next turn that is done.

        Raises:
            SessionRefused: a turn runs, or nothing has been answered yet.
        """
        self._require_idle("summarise")
        if not self._conversation.answered:
            raise SessionRefused("There is nothing to summarise yet.")
        self._compacting = True
        self._begin_task(self._run_compaction(focus), "compaction")

    async def context(self, draft: str = "") -> ContextReport:
        """What the next request holds, part by part, if `draft` is sent now; measured in a thread."""
        return await asyncio.to_thread(
            report,
            self._conversation.past,
            self.pending,
            draft,
            agent=self._agent,
            policy=self.policy,
            window=self.context_window,
            bytes_per_token=self._size.bytes_per_token,
        )

    def note_undone(self, turn: int, files: tuple[str, ...]) -> None:
        """The files that the turn changed were taken back: later turns are told (turn.md rule 16)."""
        self._publish(TurnUndone(turn=self._conversation.last_turn, undone=turn, files=files))

    def require_settled(self, action: str) -> None:
        """Raises SessionRefused while a turn runs or waits for retry or discard."""
        self._require_idle(action)
        if self._unanswered:
            raise SessionRefused(f"The last turn is not done: retry or discard it first, then {action}.")

    def rename(self, title: str) -> None:
        """Give the session a title of the user's own."""
        self._publish(SessionRenamed(title=title))

    def open(
        self,
        session_id: str,
        title: str,
        past: Iterable[Event],
        *,
        skipped: str = "",
    ) -> None:
        """Go on with another session: `past` are its events so far, `skipped` says what could not be read.

        Raises:
            SessionRefused: a turn runs, or pending state would be lost unasked.
        """
        self._require_idle("open another session")
        if self.pending:
            raise SessionRefused("An incomplete turn waits: retry or discard it first.")
        events = tuple(past)
        self._agent = replace(self._agent, keeper=None)
        self._conversation = Conversation()
        self._attempt = 0
        self._queue.clear()
        self._publish(SessionOpened(id=session_id, title=title, restoring=bool(events)))
        for event in events:
            if isinstance(event, TurnStarted):
                self._attempt = event.attempt
            if not isinstance(event, ModelChanged):  # the model of then is not the one of now
                self._publish(event)
        if events:
            self._publish(SessionRestored(skipped=skipped))

    def keep_pending_with(self, keeper: PendingKeeper | None) -> None:
        """Have pending state kept outside this process, from the next step on."""
        self._agent = replace(self._agent, keeper=keeper)

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """Pending state that was kept, in a form that the model of now can go on with, or None."""
        return self._agent.provider.adopt(pending, origin)

    @asynccontextmanager
    async def undisturbed(self, action: str) -> AsyncIterator[None]:
        """Nothing begins in here: messages queue, everything else is refused.

        Raises:
            SessionRefused: a turn runs, or waits for retry or discard.
        """
        self.require_settled(action)
        self._task, self._stopping = asyncio.current_task(), True
        try:
            yield
        finally:
            self._task = None
            self._send_queued()

    def resume(self, endings: Iterable[Event], pending: PendingState | None) -> None:
        """End the turns that the session's last program left unfinished; `pending` was kept of them."""
        for event in endings:
            self._publish(event)
        self._agent.provider.pending = pending

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
            elif self._agent.keeper:
                self._agent.keeper.keep(provider.identity, provider.pending)
        self._agent = replace(self._agent, provider=provider, price=info.price)
        self.info = info
        self._close_soon(old)
        self._publish(
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
        return bool(self._conversation.unanswered)

    def _require_idle(self, action: str) -> None:
        if self.running:
            what = "A summary is being written" if self._compacting else "A turn is running"
            raise SessionRefused(f"{what}: stop it first (esc), then {action}.")

    def _publish(self, event: Event) -> None:
        """The conversation goes on by the event first; then everybody is told."""
        self._conversation.take(event)
        if isinstance(event, Usage):
            self._size.note(event)
        self.bus.publish(event)

    def _begin(self, text: str) -> None:
        self._attempt = 0
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
            started_at=self._agent.clock(),
        )
        self._begin_task(self._run(working), f"turn {turn}")

    def _begin_task(self, deed: Coroutine[None, None, None], name: str) -> None:
        self._stopping = False
        self._task = asyncio.create_task(deed, name=name)

    async def _run(self, working: WorkingTurn) -> None:
        ending = await self._ended(working)
        settlement = settle(working.record(self._agent.clock()), ending)
        self._apply(settlement)
        self._task = None
        self._publish(settlement.event)
        if isinstance(settlement, Commit):
            self._send_queued()

    async def _ended(self, working: WorkingTurn) -> Ending:
        try:
            return await self._make_room(working) or await run_turn(working, self._agent)
        except Exception as error:
            return broken_by_bug(working.turn, error)

    async def _run_compaction(self, focus: str) -> None:
        await compact(self._conversation.past, self._conversation.answered, self._policy, self._agent, focus)
        self._compacting = False
        self._task = None
        if not (self._stopping or self._unanswered):
            self._send_queued()

    async def _make_room(self, working: WorkingTurn) -> Broken | None:
        """Summarise before the turn's first request, where that would nearly fill the context window."""
        answered = self._conversation.answered
        limit = (self.context_window or 0) * self._compact_at / 100
        size = self._measure(working)
        if not limit or self._size.tokens(size) <= limit or all(message.by_program for message in answered):
            return None
        end = await compact(working.past, answered, working.policy, self._agent, "", automatic=True)
        if isinstance(end, CompactionFailed) and end.reason == "interrupted":
            return Broken(reason="interrupted", detail=STOPPED)
        working.past = self._conversation.past
        self._measure(working)
        return None

    def _measure(self, working: WorkingTurn) -> int:
        """Bytes of the turn's first request."""
        request = step_request(
            working.past, working.traces, working.policy, self.workspace, self._agent.toolbox.specs
        )
        return self._size.measure(self._agent.provider.body(request))

    def _send_queued(self) -> None:
        if self._queue:
            self._begin(self._queue.popleft())
            self._publish_queue()

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

    def _abandon(self, pending: PendingState) -> None:
        memory = turn_memory(pending.facts)
        self._keep(None)
        self._publish(
            TurnAbandoned(
                turn=self._conversation.last_turn,
                turn_memory=memory,
                carried_bytes=rendered_bytes(ABANDONED, memory),
                trace_bytes=pending.trace_bytes,
            )
        )

    def _publish_queue(self) -> None:
        self._publish(QueueChanged(texts=self.queue))
