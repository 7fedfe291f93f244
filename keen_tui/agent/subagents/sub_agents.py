"""The sub-agents of a session: those that run, and those that wait for a retry."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from keen_tui.agent.session import Session
from keen_tui.agent.subagents.agent_result import waiting
from keen_tui.agent.subagents.sub_agent import SubAgent, inner_id
from keen_tui.domain.choices import Mode
from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.errors import STOPPED, KeenError
from keen_tui.domain.events import Event
from keen_tui.domain.messages import ToolCall, ToolResult
from keen_tui.domain.own_tools import TASK
from keen_tui.memory.pending import OpenStep
from keen_tui.system.threads import to_the_end
from keen_tui.tools.calls.tool import AgentOrder

if TYPE_CHECKING:
    from keen_tui.agent.subagents.own_tree import OwnTree
    from keen_tui.agent.turn.approvals import Approvals
    from keen_tui.agent.turn.questions import UserQuestions
    from keen_tui.settings.added.agents import AgentDefinition

StartSession = Callable[["AgentDefinition", Callable[[Event], None], "OwnTree | None"], Session]
"""Makes the session of a sub-agent, in that work tree if there is one. The session passes each event to the
callback. Raises KeenError."""

EnterTree = Callable[["AgentDefinition", str], "OwnTree"]
"""Creates or opens the work tree of the sub-agent whose session has that id. Blocks. Raises KeenError."""

ForgetTree = Callable[[str, str], None]
"""Removes the work tree of the sub-agent with that name and that session id, if nothing was changed in it.
Blocks."""


class AgentFiles(Protocol):
    """Saves the sessions of sub-agents."""

    def new_id(self) -> str:
        """An id for a new session."""

    async def open(self, session: Session, session_id: str) -> Sequence[Event]:
        """Save the session under this id. If there is a file already, the session continues from it. Returns
        the events of that file. Raises KeenError."""

    async def close(self, session_id: str) -> None:
        """Close the file of that session."""

    async def forget_pending(self) -> None:
        """Remove the pending state of all sessions that aren't open."""

    def keep_pending(self, durable: bool) -> None:
        """Choose whether pending state is kept on the disk. It takes effect at once."""


def _ignore(event: Event) -> None:
    """Does nothing."""


class SubAgents:
    """The sub-agents of a session.

    Args:
        start: makes their sessions; None if the session has no sub-agents.
        enter_tree: creates work trees for those with `isolation: worktree`.
        forget_tree: removes such a work tree again.
        at_once: how many run at once; others wait.

    `files` saves their sessions; None doesn't save them.
    """

    def __init__(
        self,
        start: StartSession | None = None,
        enter_tree: EnterTree | None = None,
        forget_tree: ForgetTree | None = None,
        *,
        at_once: int = 4,
    ) -> None:
        self.publish: Callable[[Event], None] = _ignore
        self.pass_on: Callable[[Event], None] = _ignore
        self.why_stopped: Callable[[], str] = lambda: STOPPED
        self.files: AgentFiles | None = None
        self._start = start
        self._enter_tree = enter_tree
        self._forget_tree = forget_tree
        self._slots = asyncio.Semaphore(at_once)
        self._agents: dict[str, SubAgent] = {}
        self._ids: dict[str, str] = {}

    def serve(
        self,
        publish: Callable[[Event], None],
        pass_on: Callable[[Event], None],
        why_stopped: Callable[[], str],
    ) -> None:
        """Set the callbacks to the parent's session: `publish` publishes an event in it, `pass_on` only on
        its bus; `why_stopped` returns a sentence about who interrupted its turn."""
        self.publish, self.pass_on, self.why_stopped = publish, pass_on, why_stopped

    @property
    def all(self) -> tuple[SubAgent, ...]:
        """The sub-agents of the turn that runs or waits for a retry, oldest first."""
        return tuple(self._agents.values())

    def agent(self, turn: int, call: ToolCall, order: AgentOrder, earlier: ToolResult) -> SubAgent:
        """The sub-agent of a call: the one that an earlier attempt began, or a new one. `earlier` is the
        result of the call so far."""
        agent = self._agents.get(call.id)
        if agent is None:
            if isinstance(earlier.display, AgentDisplay):
                self._ids[call.id] = earlier.display.session
            agent = SubAgent(self, turn, call, order, self._session_id(call), earlier)
            self._agents[call.id] = agent
        return agent

    def supposed(self, call: ToolCall) -> ToolResult | None:
        """The result of a call if the program dies at this moment; None if it isn't a call of `task`."""
        if call.name != TASK:
            return None
        agent = self._agents.get(call.id)
        return agent.result if agent else waiting(str(call.arguments.get("agent")), self._session_id(call))

    async def run(self, call_id: str) -> None:
        """Run the sub-agent of that call as soon as fewer than `at_once` run, and close its session when it
        has finished."""
        agent = self._agents[call_id]
        async with self._slots:
            await agent.run()
        if agent.result.unfinished:
            return
        putting = asyncio.ensure_future(_put_away(agent, self.files, finished=True))
        try:
            await asyncio.shield(putting)
        except asyncio.CancelledError:
            # The result says what its work tree holds, and no retry adds that.
            await to_the_end(asyncio.wait({putting}))
            raise

    async def open(self, agent: SubAgent) -> Session:
        """The session of a sub-agent, a saved one or a new one. Raises KeenError."""
        assert self._start and self._enter_tree
        definition = agent.order.agent
        if definition.isolation:
            agent.tree = await asyncio.to_thread(self._enter_tree, definition, agent.session_id)
        session = self._start(definition, agent.hear, agent.tree)
        if self.files:
            saved = await self.files.open(session, agent.session_id)
            agent.events.begin(saved)
            if saved and agent.tree:
                agent.has_lost_work = agent.tree.was_gone
                with suppress(KeenError):
                    await asyncio.to_thread(agent.tree.look)
        return session

    def find(self, call_id: str) -> SubAgent | None:
        """The sub-agent of that call, if it belongs to the turn that runs or waits for a retry."""
        return self._agents.get(call_id)

    def stop(self, call_id: str) -> None:
        """Stop the sub-agent of that call alone. No effect if it doesn't run."""
        if agent := self._agents.get(call_id):
            agent.stop()

    def hurry(self) -> bool:
        """End the waits before automatic retries. False if no sub-agent waits."""
        waits = [agent.session.state.open.setup.retry_wait for agent in self.all if agent.session]
        ended = [wait.end() for wait in waits]
        return any(ended)

    def asking(self, call_id: str) -> tuple[Approvals, UserQuestions, str] | None:
        """The open questions of the sub-agent that made the call with this id, and the call's id in its own
        session; None if no sub-agent made it."""
        for agent in self._agents.values():
            inner = inner_id(agent.call, call_id)
            if agent.session and inner:
                return agent.session.state.open.setup.asking(inner)
        return None

    def follow(self, mode: Mode) -> None:
        """Apply a new permission mode of the session: no sub-agent may do more than it allows."""
        for agent in self._agents.values():
            if agent.session:
                agent.session.set_mode(agent.order.agent.mode_under(mode))

    def dismiss(self, step: OpenStep | None = None, *, finished: bool = True) -> Coroutine[None, None, None]:
        """Forget all sub-agents; await the result to close their sessions, and to remove what they kept in
        order to be continued. `step` is the open step that is closed: another program may have begun its
        sub-agents. With `finished=False` the program ends, and a later one may continue them, since their
        pending state is on the disk."""
        agents, self._agents, self._ids = self._agents, {}, {}
        left = [
            result.display
            for call, result in (step.calls if step else ())
            if result.unfinished and call.id not in agents and isinstance(result.display, AgentDisplay)
        ]
        return self._close(tuple(agents.values()), left, self.files, finished=finished)

    async def _close(
        self,
        agents: Sequence[SubAgent],
        left: Sequence[AgentDisplay],
        files: AgentFiles | None,
        *,
        finished: bool,
    ) -> None:
        for agent in agents:
            await _put_away(agent, files, finished=finished)
        for display in left:
            if self._forget_tree:
                await asyncio.to_thread(self._forget_tree, display.agent, display.session)
        if files and finished and (agents or left):
            await files.forget_pending()

    def _session_id(self, call: ToolCall) -> str:
        if call.id not in self._ids:
            self._ids[call.id] = self.files.new_id() if self.files else ""
        return self._ids[call.id]


async def _put_away(agent: SubAgent, files: AgentFiles | None, *, finished: bool) -> None:
    if session := await agent.released():
        await session.close()
        if files:
            await files.close(agent.session_id)
    await agent.leave_tree(finished=finished)
