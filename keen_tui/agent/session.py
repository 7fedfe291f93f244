"""The session owns the conversation and runs one turn at a time. Front ends talk to it and read its bus."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from keen_tui.agent.context import report
from keen_tui.agent.session_work import SessionWork
from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.errors import PROGRAM_ENDED, SessionRefused
from keen_tui.domain.events import MessageTakenBack, ModelChanged, PolicyChanged, SandboxFound, TurnAbandoned
from keen_tui.domain.models import ModelInfo
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import ContextReport
from keen_tui.memory.pending import PendingState
from keen_tui.memory.policies import policy_of
from keen_tui.memory.recorder import turn_memory
from keen_tui.memory.rendering import ABANDONED, rendered_bytes
from keen_tui.providers.base import Provider


class Session(SessionWork):
    """A conversation with an agent in one workspace."""

    _sandbox_description = ""

    def warm_up(self, then: Callable[[], None] = lambda: None) -> None:
        """Import the SDK in a thread, so that the first request need not wait for it; `then` runs there.
        After all that measure the next request, find out what commands will run in, and tell."""
        loop = asyncio.get_running_loop()

        def load() -> None:
            try:
                self._agent.provider.load()
            finally:
                then()
                with suppress(RuntimeError):  # the loop is closed: the user has left
                    loop.call_soon_threadsafe(self._warmed_up)

        threading.Thread(target=load, name="load-sdk", daemon=True).start()

    def _warmed_up(self) -> None:
        if not self._is_closed:
            self._meter.start()
            self._beside(self._tell_of_sandbox())

    async def missing_sandbox(self) -> str:
        """Why commands have no sandbox here; "" where they have one, or where the user turned it off."""
        found = await self._agent.toolbox.sandbox.found()
        return "" if found.sandbox else found.reason

    async def _tell_of_sandbox(self) -> None:
        found = await self._agent.toolbox.sandbox.found()
        name = found.sandbox.name if found.sandbox else ""
        self._sandbox_description = found.description
        self._publish(SandboxFound(name=name, reason=found.sentence))

    def submit(self, text: str) -> None:
        """Send a message: starts a turn, or queues it while one runs. Blank messages are ignored."""
        if not text.strip():
            return
        if self.running:
            self._waiting.queue(text)
        else:
            self._begin(text)

    def steer(self, text: str = "") -> None:
        """Hand a message in at the next tool boundary of the running turn; "" for the oldest that is queued.
        Where no turn runs it is sent."""
        is_other = self._compacting or self._runs_own_command or self._stopping
        if self._task and not is_other:
            self._waiting.steer(text if text.strip() else "")
        else:
            self.submit(text)

    def retry(self) -> None:
        """Go on with the turn that ended incomplete or failed. Adds no user message (turn.md rule 2).
        While an automatic retry is waited for, it is made now.

        Raises:
            SessionRefused: a turn runs, or there is nothing to retry.
        """
        if self._agent.retry_wait.end():
            return
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

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        """Answer the approval of a call. A message with a no is told to the model.

        Raises:
            SessionRefused: that approval is not open.
        """
        self._approvals.answer(call_id, allow=allow, scope=scope, message=message)

    def reply(self, call_id: str, choice: int | None, words: str = "") -> None:
        """Answer the question of a call; choices count from 0, None declines.

        Raises:
            SessionRefused: that question is not open, or has no such answer.
        """
        self._questions.reply(call_id, choice, words)

    @property
    def permitted(self) -> Permitted:
        """What was allowed or forbidden beside the mode."""
        return replace(self._approvals.permitted, sandbox=self._sandbox_description)

    async def take_back(self, command: str) -> None:
        """Ask again about a command that was allowed for good.

        Raises:
            SessionRefused: it is not allowed.
            ConfigError: that can't be kept; it holds until the program ends.
        """
        await self._approvals.take_back(command)

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call on."""
        self._approvals.change_mode(mode)

    def set_policy(self, policy: PolicyName) -> None:
        """Change the memory policy, from the next turn on."""
        self._policy = policy_of(policy)
        self._publish(PolicyChanged(policy=policy))

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

    def run_own(self, command: str) -> None:
        """Run a command of the user's own in the workspace; `stop` ends it with all its processes.

        What it put out goes before the next message. What was queued meanwhile is sent afterwards, as after
        `compact`.

        Raises:
            SessionRefused: something runs.
        """
        self._require_idle("run a command")
        self._runs_own_command = True
        self._begin_task(self._run_own(command), "own command")

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

    async def undisturbed(self, action: str, deed: Callable[[], Awaitable[None]]) -> None:
        """Do it while nothing else begins: messages queue, everything else is refused. It can't be stopped,
        and goes on to its end when the caller is cancelled.

        Raises:
            SessionRefused: a turn runs, or waits for retry or discard.
        """
        self.require_settled(action)
        self._task, self._stopping = asyncio.create_task(self._alone(deed), name=action), True
        await asyncio.shield(self._task)

    async def _alone(self, deed: Callable[[], Awaitable[None]]) -> None:
        try:
            await deed()
        finally:
            self._task = None
            self._send_queued()

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
                    raise SessionRefused(
                        "Another model can't continue the incomplete turn: retry it with its own."
                    )
                self._abandon(pending)
            elif self._agent.keeper:
                self._agent.keeper.keep(provider.identity, provider.pending)
        self._agent = replace(self._agent, provider=provider, price=info.price)
        self.info = info
        self._beside(old.close())
        self._publish(
            ModelChanged(
                model=provider.model,
                server=provider.server,
                effort=provider.effort,
                context_window=info.context_window,
            )
        )

    def withdraw_queued(self) -> str | None:
        """Take the newest message that waits back, for example to edit it."""
        return self._waiting.withdraw()

    async def halt(self) -> None:
        """Stop what runs and wait for its end. Nothing begins meanwhile: messages queue and stay there."""
        self._halting = True
        try:
            self.stop()
            await self.wait_until_idle()
        finally:
            self._halting = False

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """While a session is read that will take the place of this one: messages queue, nothing begins.

        Raises:
            SessionRefused: a turn runs.
        """
        self._require_idle("open another session")
        released = asyncio.Event()
        self._task, self._stopping = asyncio.create_task(_until(released), name="held"), True
        try:
            yield
        finally:
            self._task = None
            released.set()

    async def wait_until_idle(self) -> None:
        """Wait until no turn runs and none is about to."""
        while self._task:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """Stop the running turn, wait for its end, close the provider and let the bus run dry."""
        self._is_closed = True
        if not self._stopping:
            self._why_stopped = PROGRAM_ENDED
        await self.halt()
        self._waiting.forget()
        await self._agent.provider.close()
        await asyncio.gather(*self._errands)
        self.bus.close()

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


async def _until(released: asyncio.Event) -> None:
    await released.wait()
