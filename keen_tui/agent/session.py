"""The session owns the conversation and runs one thing at a time. Front ends talk to it and read its bus."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from keen_tui.agent.hooks.hooks import NO_HOOKS, HookCommands, session_hooks
from keen_tui.agent.instructions.instructions import NO_INSTRUCTIONS, InstructionFiles, Instructions
from keen_tui.agent.instructions.watch import InstructionWatch
from keen_tui.agent.job_slot import JobSlot
from keen_tui.agent.runner import Runner
from keen_tui.agent.session_start import Surroundings
from keen_tui.agent.session_state import OpenSession, SessionState, opened_session
from keen_tui.agent.shared_with_parent import Shared
from keen_tui.agent.turn.agent_calls import AgentCalls
from keen_tui.agent.turn.approvals import ASKS_PERSON, Approvals, Permissions
from keen_tui.agent.turn.context_meter import ContextMeter
from keen_tui.agent.turn.context_report import next_sizes, report, with_draft
from keen_tui.agent.turn.message_queue import MessageQueue
from keen_tui.agent.turn.model_call import answer_aside
from keen_tui.agent.turn.questions import UserQuestions
from keen_tui.agent.turn.request_size import Measured, RequestSize, measured_request
from keen_tui.agent.turn.turn_setup import USUAL_TURNS, PendingStore, TurnOptions, TurnSetup
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.errors import PROGRAM_ENDED, STOPPED, SessionRefused
from keen_tui.domain.events import (
    Event,
    MemoryEdited,
    ModelChanged,
    PolicyChanged,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    TurnError,
    TurnUndone,
    Usage,
)
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import Message, TurnMemory
from keen_tui.domain.models import Identity, ModelInfo
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import ContextReport, NextSizes
from keen_tui.memory.call_index import HeldRecord
from keen_tui.memory.conversation import Conversation, Past
from keen_tui.memory.pending import PendingState
from keen_tui.memory.policies import policy_of
from keen_tui.memory.rendering import rendered_bytes
from keen_tui.providers.wire.provider import Provider
from keen_tui.system.background_jobs import BackgroundJobs
from keen_tui.system.threads import run_in_thread
from keen_tui.tools.background.tasks import BackgroundTasks
from keen_tui.tools.calls.earlier_turns import SessionRecord
from keen_tui.tools.toolbox import Toolbox


class Session:
    """A conversation with an agent in one workspace.

    Args:
        permissions: what it may do, and who can be asked.
        options: how its turns are run.
        info: what is known of the model: its context window and its price.
        instruction_files: where instructions are read from; None: there are none.
        hooks: commands that run at events.
        agents: the sub-agents.
        shared: what the session of a sub-agent shares with its parent's; None: it isn't one.
    """

    def __init__(
        self,
        *,
        workspace: Path,
        provider: Provider,
        info: ModelInfo | None = None,
        toolbox: Toolbox,
        agents: AgentCalls,
        permissions: Permissions = ASKS_PERSON,
        options: TurnOptions = USUAL_TURNS,
        instruction_files: InstructionFiles | None = None,
        hooks: HookCommands = NO_HOOKS,
        shared: Shared | None = None,
    ) -> None:
        self.workspace = workspace
        self.bus = EventBus()
        self._agents = agents
        agents.serve(self._publish, self.bus.publish, lambda: self._why_stopped)
        self.shared = shared = shared or Shared(clock=WorkClock(time.monotonic))
        self._instruction_files = instruction_files
        self._why_stopped, self._is_closed = STOPPED, False
        audience, waiting = permissions.audience, shared.clock.standing
        self._surroundings = Surroundings(
            toolbox, self._publish, lambda: self.turn, lambda: self.running, attended=audience.is_person
        )
        self._job, self._background = JobSlot(), BackgroundJobs()
        self._meter = ContextMeter(RequestSize(), self._next_request, self.bus.publish, self._background.add)
        self._queue = MessageQueue(self._publish)
        self._hooks = session_hooks(hooks, workspace, self._publish, lambda: self.mode, shared.agent)
        self._approvals = Approvals(
            self._publish, permissions, waiting=waiting, workspace=workspace,
            hooks=self._hooks.permission, grants=shared.grants,
        )  # fmt: skip
        setup = TurnSetup(
            provider=provider,
            price=info.price if info else None,
            toolbox=toolbox,
            approvals=self._approvals,
            questions=UserQuestions(self._publish, attended=audience.answers, waiting=waiting),
            hooks=self._hooks,
            agents=agents,
            workspace=workspace,
            publish=self._publish,
            clock=shared.clock,
            options=options,
            role=shared.role,
            pace=shared.pace,
            queue=self._queue,
            why_stopped=lambda: self._why_stopped,
        )
        opened = OpenSession(setup=setup, instructions=InstructionWatch(instruction_files))
        self.state = SessionState(
            open=opened, policy=policy_of(options.policy), info=info, compact_at=options.compact_at
        )
        self._runner = Runner(
            self.state, self._job, self._queue, self._meter, self._background, self._publish
        )
        toolbox.earlier.record = HeldRecord()
        if toolbox.skills:
            toolbox.skills.in_use = lambda: {skill.name for skill in self.skills_in_use}

    # What a front end reads.

    @property
    def turn(self) -> int:
        """Number of the newest turn; 0 before the first."""
        return self._open.conversation.last_turn

    @property
    def past(self) -> Past:
        """The conversation with the steps of its turns."""
        return self._open.conversation.past

    @property
    def conversation(self) -> tuple[Message, ...]:
        """The messages that later turns are built from."""
        return self._open.conversation.messages

    @property
    def skills_in_use(self) -> tuple[SkillUsed, ...]:
        """The skills that turns used and that weren't unloaded."""
        return self._open.skills_in_use

    @property
    def pending(self) -> PendingState | None:
        """The pending state of incomplete turns, until retry or discard."""
        return self._open.pending

    @property
    def running(self) -> bool:
        """Whether a turn, a compaction or a user command runs, or `halt` waits for it to end."""
        return self._job.taken

    @property
    def queue(self) -> tuple[str, ...]:
        """Messages queued until the running turn is done, oldest first."""
        return self._queue.queued

    @property
    def steered(self) -> tuple[str, ...]:
        """Messages for the next tool results of the running turn, oldest first."""
        return self._queue.steered

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._approvals.mode

    @property
    def policy(self) -> PolicyName:
        """The memory policy."""
        return self.state.policy.name

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._setup.provider.model

    @property
    def server(self) -> str:
        """Where the model is served: a short name, or host and port."""
        return self._setup.provider.server

    @property
    def effort(self) -> str:
        """The reasoning effort; "" for the model's default."""
        return self._setup.provider.effort

    @property
    def identity(self) -> Identity:
        """The API, base URL and model together: pending state belongs to them."""
        return self._setup.provider.identity

    @property
    def context_window(self) -> int | None:
        """The model's context window in tokens, or None if it isn't known."""
        return self.state.context_window

    @property
    def permitted(self) -> Permitted:
        """The permissions apart from the mode: rules and the user's answers."""
        return self._surroundings.added_to(self._approvals.permitted)

    @property
    def tasks(self) -> BackgroundTasks:
        """The commands in the background."""
        return self._setup.toolbox.tasks

    async def context(self, draft: str = "") -> ContextReport:
        """The parts of the next request if `draft` is sent now; measured in a thread."""
        return await asyncio.to_thread(
            report,
            self.past,
            self.pending,
            draft,
            setup=self._setup,
            policy=self.policy,
            window=self.context_window,
            bytes_per_token=self._meter.size.bytes_per_token,
        )

    async def next_sizes(self) -> NextSizes:
        """The size of the next request, beside the whole history; measured in a thread."""
        return await asyncio.to_thread(next_sizes, self.past, self.pending, self.policy, self._setup)

    async def missing_sandbox(self) -> str:
        """Why commands have no sandbox here; "" if they have one, or if the user turned it off."""
        return await self._surroundings.missing_sandbox()

    async def read_instructions(self) -> Instructions:
        """The instructions as they are in their files now."""
        return await self._open.instructions.read()

    # Turns.

    def submit(self, text: str) -> None:
        """Send a message: starts a turn, or queues the message while one runs. Empty messages are ignored."""
        if not text.strip():
            return
        if self._job.taken:
            self._queue.queue(text)
        else:
            self._runner.begin_turn(text)

    def steer(self, text: str = "") -> None:
        """Steer the running turn: send a message with its next tool results; "" sends the oldest queued
        message. If no turn runs, the message starts one."""
        is_empty = not text.strip()
        if self._job.kind == "turn" and not self._job.stopping:
            self._queue.steer("" if is_empty else text)
        elif is_empty and not self._job.taken:
            self._runner.send_queued()
        else:
            self.submit(text)

    def retry(self) -> None:
        """Retry the turn that ended incomplete or failed. Adds no user message (turn.md rule 2). If an
        automatic retry is being waited for, it is made now.

        Raises:
            SessionRefused: a turn runs, or there is nothing to retry.
        """
        if not (self._setup.retry_wait.end() or self._agents.hurry()):
            self._runner.retry_turn()

    def discard(self) -> None:
        """Discard the incomplete turns, or remove the message of a failed turn.

        The work stays remembered: an assistant message with its TurnMemory is appended. Raises
        SessionRefused: a turn runs, or there is nothing to discard."""
        self._runner.discard_turn()

    def stop(self, why: str = STOPPED) -> None:
        """Interrupt the running turn; its end event says why. No effect when idle."""
        self._why_stopped = why
        self._job.stop()

    def withdraw_queued(self) -> str | None:
        """Take back the newest queued message, for example to edit it."""
        return self._queue.withdraw()

    def compact(self, focus: str = "") -> None:
        """Have the model summarise the conversation; `stop` cancels it. Pending work isn't changed.

        Messages that were queued in the meantime are sent afterwards, even if the summary failed. After a
        `stop` they wait for the next turn that is done. Raises SessionRefused: a turn runs, or nothing has
        been answered yet."""
        self._runner.compact(focus)

    def run_own(self, command: str, *, is_check: bool = False) -> None:
        """Run a command of the user, or the check of a run, in the workspace; `stop` ends its processes.

        Its output goes before the next message. Messages that were queued in the meantime are sent
        afterwards, as after `compact`. Raises SessionRefused: something runs."""
        self._runner.run_command(command, is_check=is_check)

    # Questions.

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        """Answer the approval of a call. A message with a no goes to the model. Raises SessionRefused: that
        approval is not open."""
        approvals, _, own_id = self._agents.asking(call_id) or self._setup.asking(call_id)
        approvals.answer(own_id, allow=allow, scope=scope, message=message)

    def reply(self, call_id: str, choice: int | None, words: str = "") -> None:
        """Answer the question of a call; choices count from 0, None declines. Raises SessionRefused: that
        question is not open, or has no such answer."""
        _, questions, own_id = self._agents.asking(call_id) or self._setup.asking(call_id)
        questions.reply(own_id, choice, words)

    async def take_back(self, command: str) -> None:
        """Revoke the permanent permission of a command. Raises SessionRefused: it is not allowed, or
        ConfigError: that can't be kept, and it holds until the program ends."""
        await self._approvals.take_back(command)

    async def answer_aside(self, prompt: str) -> str:
        """The model's reply to one message outside the conversation. Raises ProviderError."""
        return await answer_aside(prompt, self._setup)

    # What later turns work with.

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call on. Commands in the background go on."""
        self._approvals.change_mode(mode)
        self._surroundings.tell_of_running(mode)
        self._agents.follow(mode)

    def set_policy(self, policy: PolicyName) -> None:
        """Change the memory policy, from the next turn on."""
        self.state.policy = policy_of(policy)
        self._publish(PolicyChanged(policy=policy))

    def would_abandon(self, provider: Provider) -> bool:
        """Whether a switch to this provider would lose the pending state (turn.md rule 8)."""
        pending = self.pending
        return pending is not None and provider.adopt(pending, self.identity) is None

    def switch(self, provider: Provider, info: ModelInfo, *, abandon: bool = False) -> None:
        """Use another model from the next turn on.

        Pending state is carried over if the new provider can send it. If it can't, the state is abandoned,
        provided that `abandon` is set. Raises SessionRefused: a turn runs, or pending state would be lost
        unasked."""
        self._runner.switch(provider, info, abandon=abandon)

    # What was: the sessions of the past, and what the user corrects in this one.

    def open(
        self,
        session_id: str,
        title: str,
        past: Sequence[Event],
        *,
        skipped: str = "",
        conversation: Conversation | None = None,
        instructions: Instructions = NO_INSTRUCTIONS,
        transcript: str = "",
    ) -> None:
        """Switch to another session: `past` are its events so far, `skipped` says what could not be read.

        `instructions` are those for its system prompt, `transcript` is the path of its file.

        `conversation` is the fold of the past, if the caller has computed it already: for a long session that
        takes a tenth of a second.

        Raises:
            SessionRefused: a turn runs, or pending state would be lost without a question.
        """
        self._job.require_empty("open another session")
        if self.pending:
            raise SessionRefused("Finish the last turn first: retry or discard it.")
        files = self._instruction_files
        self.state.open = opened_session(self._setup, files, instructions, past, conversation)
        self._approvals.forget_grants()
        self._surroundings.begin_session(past)
        self.recall_from(HeldRecord(past))
        self._queue.forget()
        self._hooks.switch(session_id, transcript, self.model, is_new=not past)
        self._publish(SessionOpened(id=session_id, title=title, restoring=bool(past)))
        if past:
            # The model of then is not the one of now.
            self.bus.publish_all([event for event in past if type(event) is not ModelChanged])
            self._publish(SessionRestored(skipped=skipped))

    def keep_pending_with(self, pending_store: PendingStore | None) -> None:
        """Save pending state outside this process from now on, that of this moment included; None: don't."""
        self._setup.pending_store.use(pending_store, self.identity, self.pending)

    def recall_from(self, record: SessionRecord) -> None:
        """Let the tool `recall` read this record of the session."""
        self._setup.toolbox.earlier.record = record

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """Saved pending state in a form that the current model can continue with, or None."""
        return self._setup.provider.adopt(pending, origin)

    def resume(self, endings: Iterable[Event], pending: PendingState | None) -> None:
        """End the turns that the session's last program left unfinished; `pending` is their saved state."""
        for event in endings:
            self._publish(event)
            if isinstance(event, TurnError):
                self._open.failed_seconds = event.seconds
        self._setup.provider.pending = pending

    def edit_memory(self, turn: int, memory: TurnMemory) -> None:
        """Replace the TurnMemory of a turn. Raises SessionRefused: a turn runs, or no message stands for that
        one."""
        self._job.require_empty("change what is remembered")
        if self._open.conversation.memory_of(turn) is None:
            because = "it wasn't answered, or it was summarised."
            raise SessionRefused(f"Turn {turn} has no TurnMemory to edit: {because}")
        carried = rendered_bytes(self._open.conversation.text_of(turn), memory)
        self._publish(MemoryEdited(turn=turn, turn_memory=memory, carried_bytes=carried))

    def unload(self, skill: str) -> None:
        """Forget in every turn that the skill is in use: later turns aren't told.

        Raises:
            SessionRefused: a turn runs or isn't done, or the skill isn't in use.
        """
        self.require_settled("unload the skill")
        without = self._open.conversation.memories_without(skill)
        if not without:
            raise SessionRefused(f"The skill {skill} isn't in use.")
        for turn, memory in without:
            self.edit_memory(turn, memory)

    def note_undone(self, turn: int, files: tuple[str, ...]) -> None:
        """Record that the turn was undone: later turns are told (turn.md rule 16)."""
        self._publish(TurnUndone(turn=self.turn, undone=turn, files=files))

    def rename(self, title: str) -> None:
        """Give the session a title."""
        self._publish(SessionRenamed(title=title))

    def require_settled(self, action: str) -> None:
        """Raises SessionRefused while a turn runs or waits for retry or discard."""
        self._job.require_empty(action)
        if self._open.is_unanswered:
            raise SessionRefused(f"Finish the last turn first: retry or discard it, then {action}.")

    async def undisturbed(self, title: str, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action exclusively. Messages queue meanwhile; other verbs raise SessionRefused. Not
        cancellable: it runs to its end even if the caller is cancelled.

        Raises:
            SessionRefused: a turn runs, or waits for retry or discard.
        """
        self.require_settled(title)
        await self._runner.run_to_end(title, action)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """A context in which the session that replaces this one is read: messages queue, nothing starts.

        Raises:
            SessionRefused: a turn runs.
        """
        self._job.require_empty("open another session")
        async with self._job.occupied("opening"):
            yield

    # From the start to the end.

    def warm_up(self, then: Callable[[], None] = lambda: None) -> None:
        """Import the SDK in a thread, so that the first request need not wait for it; `then` runs there.
        After everything that measures the next request, find the sandbox for commands and report it."""
        run_in_thread("load-sdk", partial(_load, self._setup.provider, then), self._warmed_up)

    async def report_saved_commits(self) -> None:
        """Save the commits of a command that ran when Keen was killed, and tell the user. `warm_up` does."""
        await self._surroundings.report_saved_commits()

    async def halt(self) -> None:
        """Stop what runs and wait for its end. Nothing starts meanwhile: messages stay in the queue."""
        await self._job.halt()

    async def close(self) -> None:
        """Stop the running turn, wait for its end, close the provider, let the readers of the bus finish."""
        self._is_closed = True
        if not self._job.stopping:
            self._why_stopped = PROGRAM_ENDED
        await self._job.halt()
        await self._agents.dismiss(finished=self._setup.pending_store.store is None)
        self._queue.forget()
        await self._hooks.close()
        await self._setup.provider.close()
        await self._surroundings.end_programs()
        await self._background.wait()
        self.bus.close()

    # Inside.

    @property
    def _open(self) -> OpenSession:
        return self.state.open

    @property
    def _setup(self) -> TurnSetup:
        return self._open.setup

    def _publish(self, event: Event) -> None:
        """Apply the event to the conversation, then publish it."""
        self._open.conversation.take(event)
        self._setup.toolbox.earlier.record.note(event)
        if isinstance(event, Usage) and not event.agent and self.running:  # not of a past that is opened
            self._meter.size.note(event)
        self.bus.publish(event)
        self.shared.hear(event)
        self._meter.note(event)
        self._hooks.note(event)

    def _warmed_up(self) -> None:
        if not self._is_closed:
            self._meter.start()
            self._surroundings.start_servers()
            self._background.add(self._surroundings.report_all())

    def _next_request(self) -> Callable[[], Measured] | None:
        """Measures the next request without its message; None while something runs."""
        if self.running or self._is_closed:
            return None
        past, traces = with_draft(self.past), self.pending.traces if self.pending else ()
        return partial(measured_request, past, traces, self.state.policy, self._setup)


def _load(provider: Provider, then: Callable[[], None]) -> None:
    try:
        provider.load()
    finally:
        then()
