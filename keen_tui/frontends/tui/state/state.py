"""The state of the screen, as a value.

`past` holds the blocks of earlier turns and `live` those of the newest one, so that a delta costs the
same in the first turn and in the ten-thousandth. In a long turn only the newest blocks are live, so that its
last call costs no more than its first. What grows with the session is a `Trail`. Folding, scrolling and focus
are the widgets' own business.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from keen_tui.agent.until.progress import NO_RUN, RunProgress
from keen_tui.domain.background import TaskReport
from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.display import Display, TodoItem, todo_progress
from keen_tui.domain.events import (
    ApprovalRequested,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    EndEvent,
    HostContacted,
    ModelChanged,
    QuestionAsked,
    RetryScheduled,
    SandboxFound,
    TurnError,
    TurnIncomplete,
)
from keen_tui.domain.facts.remembered import Remembered
from keen_tui.domain.messages import CallOutcome, ToolResult, TurnMemory, UnknownCall, turn_memory
from keen_tui.domain.spent import NOTHING, NOTHING_LEFT_OUT, LeftOut, Spent
from keen_tui.frontends.tui.state.displays import PackedDisplay
from keen_tui.frontends.tui.state.trail import Trail

ToolStatus = Literal["running", "asks"] | CallOutcome
Settled = Literal["", "retried", "went on", "abandoned"]
Replay = Literal["", "playing", "over"]
Phase = Literal[
    "idle", "waiting", "thinking", "answering", "tool", "asking", "retrying", "compacting", "shell"
]


class UserBlock(Struct, frozen=True, kw_only=True):
    """A message of the user. `images` and `resources` are lines about its attachments, `skill` one about the
    skill that it calls, "" for none."""

    turn: int
    text: str
    images: tuple[str, ...] = ()
    skill: str = ""
    resources: tuple[str, ...] = ()


class TextBlock(Struct, frozen=True, kw_only=True):
    """Assistant text. `open` while its step streams; `lost` when that step was cut. If the step is `retried`,
    it stays until the next reply begins."""

    turn: int
    step: int
    text: str
    open: bool = True
    lost: bool = False
    retried: bool = False


class ReasoningBlock(Struct, frozen=True, kw_only=True):
    turn: int
    step: int
    text: str
    seconds: float
    open: bool = True
    lost: bool = False
    retried: bool = False


class ToolBlock(Struct, frozen=True, kw_only=True):
    """A tool call. `tail` is its newest live output, or the last lines of a command that ended well; `lines`
    is the number of all its lines. `result` is there once it finished, and `shown` is what the unfolded call
    shows; where there is something, `result` has neither text nor display.

    `started_at` is on the clock of `apply`, `seconds` the time it took. `contacts` are the hosts that its
    command reached or was refused. For a sub-agent `tail` has its newest calls, and `lines` is the number of
    all of them. `is_tried`: it runs read-only before anybody is asked about it.
    """

    turn: int
    id: str
    name: str
    target: str
    status: ToolStatus
    started_at: float
    tail: str = ""
    lines: int = 0
    bytes: int = 0
    result: ToolResult | None = None
    shown: Display | PackedDisplay | None = None
    seconds: float = 0.0
    contacts: tuple[HostContacted, ...] = ()
    is_tried: bool = False

    @property
    def display(self) -> Display | None:
        """The display of the unfolded call. None while it runs, and if the display is the text of its
        result."""
        return self.shown.packed.value if isinstance(self.shown, PackedDisplay) else self.shown


class RetryBlock(Struct, frozen=True, kw_only=True):
    """The step is tried again at `due` (clock of `apply`). Gone with the first sign of life."""

    retry: RetryScheduled
    due: float


class NoticeBlock(Struct, frozen=True, kw_only=True):
    turn: int
    text: str


class EndBlock(Struct, frozen=True, kw_only=True):
    """How the turn ended, without the reply, which is in blocks before it. `lost_words` counts the words of
    cut replies; `gone_words` of them are no longer shown before it. `settled` says what became of an
    incomplete or failed end since; `cost` is in US dollars, None when it is not known. `carried` is what
    `totals.carried_of` says of a turn that is done, at its end."""

    end: EndEvent
    lost_words: int = 0
    gone_words: int = 0
    cost: float | None = None
    carried: tuple[int, int] = (0, 0)
    settled: Settled = ""

    @property
    def turn(self) -> int:
        return self.end.turn


class CompactionBlock(Struct, frozen=True, kw_only=True):
    """The conversation is being summarised, or was. `text` is the summary so far, `end` how it ended."""

    turn: int
    start: CompactionStarted
    text: str = ""
    end: Compacted | CompactionFailed | None = None


Block = (
    UserBlock | TextBlock | ReasoningBlock | ToolBlock | RetryBlock | NoticeBlock | CompactionBlock | EndBlock
)
OWN_COMMAND = "shell"
"""The name in the block of a command that the user ran; no tool of the model has it."""

TurnStatus = Literal["running", "done", "pending", "failed", "stopped", "abandoned"]


class TurnRow(Struct, frozen=True, kw_only=True):
    """One turn in the side panels. `facts` fill live, and `failures` counts the calls that failed.

    `unknown_calls` are those of an incomplete turn whose effects nobody knows.

    `said_bytes` are the user's own words, with what goes along: pastes, images, commands that the user ran.
    `carried_bytes` is what later requests hold of the reply, known once there is one; 0 when the turn is
    `summarised`: then a summary carries what is left of it. `edited`: the user changed what is remembered.
    `recalled_bytes` are the results of `recall` that the turn was given, `attached_bytes` the skills and
    resources that the user named in it, which later requests don't carry. `kept_out_bytes` are the traces of
    its sub-agents, which no request of the session ever carries; `agents` is the number of those that a retry
    goes on with.
    """

    turn: int
    title: str
    status: TurnStatus = "running"
    facts: tuple[Remembered, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    attempt: int = 1
    failures: int = 0
    unknown_calls: tuple[UnknownCall, ...] = ()
    edited: bool = False
    said_bytes: int = 0
    recalled_bytes: int = 0
    kept_out_bytes: int = 0
    agents: int = 0
    attached_bytes: int = 0
    carried_bytes: int | None = None
    trace_bytes: int | None = None
    summarised: bool = False
    spent: Spent = NOTHING

    @property
    def is_editable(self) -> bool:
        """Whether what is remembered of it can be edited: it has ended, and no summary stands for it."""
        return self.carried_bytes is not None and not self.summarised

    @property
    def memory(self) -> TurnMemory:
        return turn_memory(self.facts)


class Todos(Struct, frozen=True, kw_only=True):
    """The todo list as it stands, and the call that wrote it."""

    items: tuple[TodoItem, ...] = ()
    turn: int = 0
    call_id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return any(item.status != "done" for item in self.items)

    @property
    def progress(self) -> str:
        """`2 of 5 done`."""
        return todo_progress(self.items)


class UiState(Struct, frozen=True, kw_only=True):
    """Everything that is drawn. `failed` and `pending` hold the end event that the two keys answer;
    `sandbox` is what commands run in, and `model` the one that answers, None while that is not known.
    `title` is the user's own title of the session; `summary_bytes` is what the summary of the oldest turns
    takes. While `restoring`, the past of a session is being read, and nothing of it is drawn yet. `unsent`
    waited in the queue of the session before this one. `keeps_pending`: an incomplete turn outlives the
    program. `replay` says how far a recorded session has been
    played, "" for one at work."""

    replay: Replay = ""
    mode: Mode = "ask"
    sandbox: SandboxFound | None = None
    policy: PolicyName = "summary"
    keeps_pending: bool = False
    model: ModelChanged | None = None
    session_id: str = ""
    title: str = ""
    restoring: bool = False
    past: Trail[Block] = Trail()
    live: tuple[Block, ...] = ()
    turn_past: Trail[Block] = Trail()
    """The blocks of the newest turn that are in the past."""
    gone_words: int = 0
    """Words of cut replies of this turn whose places the next replies took."""
    turns: Trail[TurnRow] = Trail()
    phase: Phase = "idle"
    phase_since: float = 0.0
    turn_started_at: float = 0.0
    recovering: int = 0
    hook: str = ""
    """The hook that has been running for a while."""
    approval: ApprovalRequested | None = None
    asked: QuestionAsked | None = None
    todos: Todos = Todos()
    pending: TurnIncomplete | None = None
    failed: TurnError | None = None
    queue: tuple[str, ...] = ()
    steered: tuple[str, ...] = ()
    unsent: tuple[str, ...] = ()
    notice: str = ""
    notices_over: tuple[str, ...] = ()
    taken_back: str = ""
    context_tokens: int | None = None
    summary_bytes: int = 0
    ran_bytes: int = 0
    """Bytes of the user's own commands since the newest message; they are sent with the next one."""
    spent: Spent = NOTHING
    left_out: LeftOut = NOTHING_LEFT_OUT
    """The part of the whole history that the next request leaves out."""
    tasks: tuple[TaskReport, ...] = ()
    """The commands that run in the background, the newest first."""
    run: RunProgress = NO_RUN
    """The newest run of the session."""
    last_word_at: float = 0.0
    """When the running turn last gave a sign of life (clock of `apply`)."""

    @property
    def running(self) -> bool:
        return self.phase != "idle"

    def turn_seconds(self, now: float) -> float:
        """How long the newest turn has worked in all its attempts. While it asks the time stands still."""
        if not self.turn_running:
            return self.turns[-1].seconds
        until = self.phase_since if self.phase == "asking" else now
        return self.turns[-1].seconds + max(until - self.turn_started_at, 0.0)

    @property
    def turn_running(self) -> bool:
        """Whether a turn is at work; between turns a conversation may be summarised."""
        return self.running and any(row.status == "running" for row in self.turns[-1:])
