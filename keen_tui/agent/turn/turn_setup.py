"""The objects that every turn of a session works with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct, field

from keen_tui.agent.hooks.hooks import SessionHooks
from keen_tui.agent.instructions.instructions import NO_INSTRUCTIONS, Instructions
from keen_tui.agent.instructions.nested import NestedInstructions
from keen_tui.agent.turn.agent_calls import AgentCalls
from keen_tui.agent.turn.approvals import Approvals
from keen_tui.agent.turn.message_queue import MessageQueue
from keen_tui.agent.turn.pace import Pace
from keen_tui.agent.turn.questions import UserQuestions
from keen_tui.agent.turn.retries import RetryPolicy, RetryWait
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.errors import STOPPED
from keen_tui.domain.events import Event
from keen_tui.domain.models import Identity, Price
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.memory.projection import Projector
from keen_tui.providers.wire.provider import Provider
from keen_tui.tools.toolbox import Toolbox


class PendingStore(Protocol):
    """Saves pending state outside this process, for users who want that (turn.md rule 9)."""

    def keep(self, identity: Identity, pending: PendingState | None) -> None:
        """Save this in place of the earlier state; None: nothing is pending any more."""

    async def kept(self) -> None:
        """Wait until everything is on the disk."""


class PendingSlot:
    """Where pending state is saved outside this process: in `store`, or nowhere while that is None. The user
    may change it at any time, and a running turn follows."""

    def __init__(self) -> None:
        self.store: PendingStore | None = None
        self._newest: tuple[Identity, Callable[[], PendingState | None]] | None = None

    def use(self, store: PendingStore | None, identity: Identity, pending: PendingState | None) -> None:
        """Save in this store from now on, and at once what is pending: the state of the running turn, else
        `pending`. None: save nowhere."""
        self.store = store
        if self._newest:
            identity, pending = self._newest[0], self._newest[1]()
        if pending:
            self.keep(identity, pending)

    def keep(self, identity: Identity, pending: PendingState | None) -> None:
        """Save this in place of the earlier state, if there is a store."""
        self.note(identity, lambda: pending)

    def note(self, identity: Identity, pending: Callable[[], PendingState | None]) -> None:
        """The same for a state that is only made if there is a store, or once there is one."""
        self._newest = identity, pending
        if self.store:
            self.store.keep(identity, pending())

    async def kept(self) -> None:
        """Wait until everything is on the disk."""
        if self.store:
            await self.store.kept()


class NewestRequest(Struct):
    """The parts of the session's newest answered request.

    Changed by every step of a turn that is answered whole. `identity` is that of the provider, None before
    the first answer. Summaries and titles don't count: they are asked for outside the conversation."""

    past: Past = Past()
    traces: tuple[PendingTrace, ...] = ()
    identity: Identity | None = None

    def note(self, past: Past, traces: tuple[PendingTrace, ...], identity: Identity) -> None:
        """A request made of these was answered."""
        self.past, self.traces, self.identity = past, traces, identity


class TurnOptions(Struct, frozen=True, kw_only=True):
    """How the turns of a session are run. A turn that makes `max_steps` model calls ends as incomplete;
    `retries` says which failed calls are tried again. `policy` is how much of a finished turn later turns
    get. At `compact_at` percent of the context window the conversation is summarised, 0: never. `attaches`
    says whether messages attach the images and resources that they name, and call skills."""

    max_steps: int = 100
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    policy: PolicyName = "summary"
    compact_at: int = 85
    attaches: bool = True


USUAL_TURNS: Final = TurnOptions()


class TurnSetup(Struct, frozen=True, kw_only=True):
    """The objects that a turn works with. `price` is the model's price, None if it isn't known; `clock` gives
    seconds, never goes back, and stops while the person is asked; `pending_store` saves pending state beyond
    the process, if the user wants that; `projector` knows the session's previous request, `newest_request`
    the parts of the last answered one; `instructions` are those that the session began with, `nested` those
    of folders below the workspace, `role` is the task of a sub-agent; `queue` has the messages that go into
    the turn at its next results; `why_stopped` says in a sentence who interrupted it; `agents` are its
    sub-agents; `pace` says when the model's server takes the next request."""

    provider: Provider
    price: Price | None
    toolbox: Toolbox
    approvals: Approvals
    questions: UserQuestions
    hooks: SessionHooks
    agents: AgentCalls
    workspace: Path
    publish: Callable[[Event], None]
    clock: Callable[[], float]
    options: TurnOptions
    retry_wait: RetryWait = field(default_factory=RetryWait)
    pending_store: PendingSlot = field(default_factory=PendingSlot)
    projector: Projector = field(default_factory=Projector)
    newest_request: NewestRequest = field(default_factory=NewestRequest)
    instructions: Instructions = NO_INSTRUCTIONS
    nested: NestedInstructions = field(default_factory=NestedInstructions)
    role: str = ""
    pace: Pace = field(default_factory=Pace)
    queue: MessageQueue = field(default_factory=lambda: MessageQueue(lambda _: None))
    why_stopped: Callable[[], str] = lambda: STOPPED

    @property
    def skills(self) -> str:
        """The list of skills for the system prompt; "" if there are none."""
        return self.toolbox.skills.listed if self.toolbox.skills else ""

    def asking(self, call_id: str) -> tuple[Approvals, UserQuestions, str]:
        """The open questions, as `AgentCalls.asking` returns them."""
        return self.approvals, self.questions, call_id
