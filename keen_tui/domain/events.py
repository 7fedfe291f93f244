"""The closed union of events that the session publishes and every front end reads.

Readers `match` on `Event` and end with `assert_never`. `event_records` gives them as JSON objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_never

from msgspec import Struct, field

from keen_tui.domain.background import TaskReport
from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.display import Display
from keen_tui.domain.errors import EndReason
from keen_tui.domain.messages import (
    AttachedResource,
    CalledSkill,
    Fact,
    Image,
    StopReason,
    TokenUsage,
    ToolResult,
    TurnMemory,
    UnknownCall,
    WebSource,
)
from keen_tui.domain.runs import RunLimits, RunReport


class Stored(Struct, frozen=True, kw_only=True):
    """An event that a session file holds: on the disk as soon as it is published, with all before it."""


class StoredWithNext(Stored, frozen=True, kw_only=True):
    """A stored event that needn't be on the disk before the next one that can't wait."""


class Passing(Struct, frozen=True, kw_only=True):
    """An event that no session file holds: live output, a question, what the program is set to now."""


class TurnStarted(Stored, frozen=True, kw_only=True):
    """A turn began. `text` is the user's message; a retry (`attempt` > 1) adds none and has None."""

    turn: int
    attempt: int
    text: str | None
    recovering: int = 0
    """The number of tool calls in the pending state that this turn continues from."""


class StepRestarted(Stored, frozen=True, kw_only=True):
    """The step is tried again: its streamed text is withdrawn. `reason` is why it failed, None if it was
    shortened; `seconds` is the wait before this attempt."""

    turn: int
    step: int
    reason: EndReason | None = None
    seconds: float = 0.0


class TextDelta(StoredWithNext, frozen=True, kw_only=True):
    """A piece of visible assistant text. `step` counts the model calls of this attempt, from 1."""

    turn: int
    step: int
    text: str


class ReasoningDelta(StoredWithNext, frozen=True, kw_only=True):
    """A piece of the model's reasoning. `seconds` is how long this step has been reasoning."""

    turn: int
    step: int
    text: str
    seconds: float


class ToolStarted(StoredWithNext, frozen=True, kw_only=True):
    """A tool call started. `target` is what it acts on, in a few words: a path, a command, a pattern."""

    turn: int
    step: int = 0
    id: str
    name: str
    arguments: Mapping[str, Any]
    target: str


class CallTried(Passing, frozen=True, kw_only=True):
    """A call that would ask runs read-only first, where it can change nothing."""

    turn: int
    id: str


class ToolOutput(Passing, frozen=True, kw_only=True):
    """Live output of a running tool, or of the user's own command: `text` is new and cleaned, capped to its
    newest part.

    `lines` and `bytes` count all output of the call so far.
    """

    turn: int
    id: str
    text: str
    lines: int
    bytes: int


class ToolFinished(Stored, frozen=True, kw_only=True):
    """A tool call got its result. Follows the ToolStarted with the same id, in every case."""

    turn: int
    step: int = 0
    id: str
    name: str
    arguments: Mapping[str, Any]
    target: str
    result: ToolResult
    seconds: float


class ApprovalRequested(Passing, frozen=True, kw_only=True):
    """A call waits for approval by its id. `display` shows what would happen, `why` the reason for asking.

    `grant` completes "yes, and ..." with what a yes for the whole session allows; `saves` are the commands
    that can be allowed permanently in this workspace, or with `saves_for_project` in the project that this
    work tree belongs to; None and () if that isn't offered. If it `is_risky`, no answer may be preselected.
    """

    turn: int
    id: str
    name: str
    arguments: Mapping[str, Any]
    target: str
    question: str
    why: str
    display: Display | None
    grant: str | None
    saves: tuple[str, ...] = ()
    saves_for_project: bool = False
    is_risky: bool = False
    agent: str = ""
    """The sub-agent whose call it is; "" for a call of the session's own turn."""


class ApprovalAnswered(Passing, frozen=True, kw_only=True):
    """The answer to an approval; `by` is "stop" if the turn was interrupted before an answer came.

    `saved` are the commands that it allows permanently in this workspace.
    """

    turn: int
    id: str
    allowed: bool
    for_session: bool
    message: str
    by: Literal["user", "headless", "stop", "hook"]
    saved: tuple[str, ...] = ()


class HostContacted(Stored, frozen=True, kw_only=True):
    """The command of a call reached a host on the network, or was refused access: `problem` says why, "" if
    it was reached. `host` includes its port unless that is 80 or 443."""

    turn: int
    id: str
    host: str
    problem: str = ""


class WebSearched(Stored, frozen=True, kw_only=True):
    """The model's provider searched the web. `query` is what it searched for, or the address that it opened;
    `sources` are the pages that it found; `problem` says why it found none, "" if nothing went wrong."""

    turn: int
    step: int
    query: str
    sources: tuple[WebSource, ...] = ()
    problem: str = ""


class AnswerChoice(Struct, frozen=True, kw_only=True):
    """An answer to choose, and its consequence. With `wants_words` the user adds words."""

    label: str
    consequence: str = ""
    wants_words: bool = False


class QuestionAsked(Passing, frozen=True, kw_only=True):
    """A tool call asks the person a question and waits for the answer by its id. `body` is Markdown that the
    question is about."""

    turn: int
    id: str
    name: str
    question: str
    choices: tuple[AnswerChoice, ...]
    body: str = ""
    agent: str = ""
    """The sub-agent that asks; "" for a call of the session's own turn."""


class QuestionAnswered(Passing, frozen=True, kw_only=True):
    """The answer to a question; `choice` counts from 0, None declines. `by` is "stop" if the turn was
    interrupted before an answer came, "headless" if there is nobody to ask."""

    turn: int
    id: str
    choice: int | None
    words: str
    by: Literal["user", "headless", "stop"]


class Usage(Stored, frozen=True, kw_only=True):
    """Tokens that the provider reported for one step, and what they cost in US dollars (None: unknown).

    `model` is the one that was asked; "" in files of earlier versions. `agent` is the sub-agent whose step it
    was, "" for a step of the session's own turn; `call` is the id of the call that began the sub-agent.
    """

    turn: int
    step: int
    tokens: TokenUsage
    cost: float | None = None
    model: str = ""
    agent: str = ""
    call: str = ""


class RetryScheduled(Passing, frozen=True, kw_only=True):
    """The step failed and is retried after `delay` seconds, as attempt `attempt` of `max_attempts`."""

    turn: int
    step: int
    attempt: int
    max_attempts: int
    delay: float
    reason: EndReason
    detail: str


class Notice(Stored, frozen=True, kw_only=True):
    """One sentence for the user that belongs to no tool and ends nothing. `turn` is 0 for words of the
    moment, which no later reader of the session needs."""

    turn: int
    text: str


class NoticeOver(Passing, frozen=True, kw_only=True):
    """What a notice said in the sentence `text` no longer holds: a screen that still shows it takes it
    away."""

    text: str


class TurnDone(Stored, frozen=True, kw_only=True):
    """The model finished: the assistant message with `turn_memory` is in the conversation.

    `carried_bytes` is the size of the turn's reply in later requests, `trace_bytes` that of its trace.
    `whole_bytes` is what later requests would carry under the policy `full-trace`, None in files of earlier
    versions. `raw` is the text as the model wrote it, if that differs from the visible `text` (policy
    `in-band`). `calls` and `seconds` count all attempts, including the incomplete turn that was continued;
    time in which the person was asked doesn't count, here and in all later events.
    """

    turn: int
    attempt: int
    reason: StopReason
    text: str
    turn_memory: TurnMemory
    calls: int
    seconds: float
    carried_bytes: int
    trace_bytes: int
    raw: str | None = None
    whole_bytes: int | None = None


class TurnIncomplete(Stored, frozen=True, kw_only=True):
    """The turn ended midway and its work is kept as pending state: `calls` results, `trace_bytes` bytes.
    `seconds` counts all attempts, and so do the `unknown_calls`, whose effects are unknown.

    `may_pass`: the same request may succeed later. `retry_after` is the wait in seconds that the server
    named, None for none. `agents` is the number of sub-agents that a retry continues."""

    turn: int
    attempt: int
    reason: EndReason
    detail: str
    text: str
    turn_memory: TurnMemory
    calls: int
    seconds: float
    trace_bytes: int
    unknown_calls: tuple[UnknownCall, ...] = ()
    may_pass: bool = False
    retry_after: float | None = None
    agents: int = 0


class TurnError(Stored, frozen=True, kw_only=True):
    """The turn ended before any tool call ran or was answered: only the user's message is kept. `seconds`
    counts all attempts; `may_pass` and `retry_after` are those of `TurnIncomplete`."""

    turn: int
    attempt: int
    reason: EndReason
    detail: str
    seconds: float
    text: str = ""
    turn_memory: TurnMemory = field(default_factory=TurnMemory)
    may_pass: bool = False
    retry_after: float | None = None

    @property
    def outcome(self) -> Literal["stopped", "failed"]:
        """Stopped isn't failed, whoever stopped it."""
        return "stopped" if self.reason == "interrupted" else "failed"


class TurnAbandoned(Stored, frozen=True, kw_only=True):
    """Pending state was discarded: "(turn abandoned)" with its memory is in the conversation. The byte counts
    are those of `TurnDone`."""

    turn: int
    turn_memory: TurnMemory
    carried_bytes: int
    trace_bytes: int
    whole_bytes: int | None = None


class MessageTakenBack(Stored, frozen=True, kw_only=True):
    """A message without a reply was removed from the conversation; `text` goes back into the composer."""

    turn: int
    text: str


class Steered(Stored, frozen=True, kw_only=True):
    """The user steered the running turn: the message follows the tool results of that step. It is in the
    conversation once the turn is done or abandoned."""

    turn: int
    step: int
    text: str


class ImagesAttached(Stored, frozen=True, kw_only=True):
    """The images that the turn's newest message names were read, and belong to it from now on."""

    turn: int
    images: tuple[Image, ...]


class SkillCalled(Stored, frozen=True, kw_only=True):
    """The turn's newest message calls a skill, which was read and belongs to it from now on."""

    turn: int
    skill: CalledSkill


class ResourcesAttached(Stored, frozen=True, kw_only=True):
    """The resources of MCP servers that the turn's newest message names were read, and belong to it from now
    on."""

    turn: int
    resources: tuple[AttachedResource, ...]


class ContextAdded(Stored, frozen=True, kw_only=True):
    """A hook added `text` to the newest message of the user in that turn, for this turn only."""

    turn: int
    text: str


class HookRunning(Passing, frozen=True, kw_only=True):
    """A hook has been running for a while; `label` is its name for people. "": it has ended."""

    turn: int
    label: str


class QueueChanged(Passing, frozen=True, kw_only=True):
    """The messages queued until the running turn is done, and those for its next tool results; oldest
    first."""

    texts: tuple[str, ...]
    steered: tuple[str, ...] = ()


class ModeChanged(Passing, frozen=True, kw_only=True):
    """The permission mode is now `mode`."""

    mode: Mode


class SandboxFound(Passing, frozen=True, kw_only=True):
    """The sandbox of commands, by name; "" for none, and then why in a sentence, unless none is wanted."""

    name: str
    reason: str = ""


class ModelChanged(Stored, frozen=True, kw_only=True):
    """Later turns go to this model. `effort` "" is the model's own default; `context_window` is in tokens."""

    model: str
    server: str
    effort: str
    context_window: int | None


class SessionOpened(Passing, frozen=True, kw_only=True):
    """From here on every event belongs to this session: the screen starts empty.

    `restoring`: the events until `SessionRestored` happened earlier, and are drawn at once.
    """

    id: str
    title: str = ""
    restoring: bool = False


class SessionRestored(Passing, frozen=True, kw_only=True):
    """All of the session's past was published. `skipped` says in a sentence what could not be read."""

    skipped: str = ""


class SessionRenamed(Stored, frozen=True, kw_only=True):
    """The session has a title, from its user or from the model."""

    title: str


class CompactionStarted(Stored, frozen=True, kw_only=True):
    """The model is asked to summarise the `turns` oldest turns. `focus` is what the user asked to stress."""

    turns: int
    focus: str = ""
    automatic: bool = False


class CompactionDelta(Passing, frozen=True, kw_only=True):
    """A piece of the summary."""

    text: str


class Compacted(Stored, frozen=True, kw_only=True):
    """The summary with `turn_memory`, the union of theirs, replaces all messages up to turn `turn`. The byte
    counts are those of the messages as requests carry them."""

    turn: int
    turns: int
    summary: str
    turn_memory: TurnMemory
    bytes_before: int
    bytes_after: int
    seconds: float


class CompactionFailed(Stored, frozen=True, kw_only=True):
    """The compaction changed nothing. `detail` is a sentence for the user."""

    reason: EndReason
    detail: str


class TurnUndone(Stored, frozen=True, kw_only=True):
    """The files that turn `undone` changed are restored to their state before it. `turn` is the newest
    turn."""

    turn: int
    undone: int
    files: tuple[str, ...]


class MemoryEdited(Stored, frozen=True, kw_only=True):
    """The user edited TurnMemory: this is the turn's new one."""

    turn: int
    turn_memory: TurnMemory
    carried_bytes: int


class ShellStarted(Stored, frozen=True, kw_only=True):
    """The user runs a command in the workspace. `turn` is the newest turn, 0 before the first. `is_check`: it
    is the check of a run."""

    turn: int
    id: str
    command: str
    is_check: bool = False


class ShellFinished(Stored, frozen=True, kw_only=True):
    """The user's own command ended. Its result goes before the user's next message."""

    turn: int
    id: str
    command: str
    result: ToolResult
    seconds: float
    is_check: bool = False


class RunBegun(Stored, frozen=True, kw_only=True):
    """A run began: turns follow until `check` ends with exit code 0, or the limits are reached.

    `task` is the message that it begins with, "" for none. `is_retried`: it begins with another attempt at
    the newest turn, which isn't done and has taken `seconds_before`.
    """

    check: str
    limits: RunLimits
    task: str = ""
    is_retried: bool = False
    seconds_before: float = 0.0


class RunContinued(Stored, frozen=True, kw_only=True):
    """The run continues after its program ended, with these limits."""

    limits: RunLimits


class RunWaiting(Stored, frozen=True, kw_only=True):
    """The run waits before another attempt. `began` and `until` are seconds since the epoch; `is_named`: the
    server named this wait. `reason` and `detail` are those of the turn's end."""

    reason: EndReason
    detail: str
    began: float
    until: float
    is_named: bool = False


class RunWaited(Stored, frozen=True, kw_only=True):
    """The wait of the run is over; it took so many seconds."""

    seconds: float


class RunAsked(Stored, frozen=True, kw_only=True):
    """In a run, `what` had to be asked, and there was nobody to answer. `advice` says what would allow it, ""
    if nothing would."""

    turn: int
    what: str
    advice: str = ""


class RunEnded(Stored, frozen=True, kw_only=True):
    """The run is over."""

    report: RunReport


class BackgroundChanged(Passing, frozen=True, kw_only=True):
    """The commands that run in the background now, the newest first. New output counts as a change, at most
    twice a second. `ended` are those that have just ended, unless the result of their call says so."""

    tasks: tuple[TaskReport, ...]
    ended: tuple[TaskReport, ...] = ()


class ContextMeasured(Passing, frozen=True, kw_only=True):
    """How many tokens of the context window are used: by the running turn so far, or between turns by the
    next request without its message. None if that isn't known."""

    tokens: int | None


class PendingKept(Passing, frozen=True, kw_only=True):
    """The user has decided whether pending state outlives the program from now on (`durable`), that of this
    moment included."""

    durable: bool


class ReviewUsed(Passing, frozen=True, kw_only=True):
    """A step of a review beside the session used tokens, as in `Usage`. The session of the review stores
    them; here they count while the session is open."""

    step: int
    tokens: TokenUsage
    cost: float | None = None
    model: str = ""

    @property
    def usage(self) -> Usage:
        """The same as usage outside turns."""
        return Usage(turn=0, step=self.step, tokens=self.tokens, cost=self.cost, model=self.model)


class PolicyChanged(Passing, frozen=True, kw_only=True):
    """The memory policy from the next turn on."""

    policy: PolicyName


class AgentWorked(Stored, frozen=True, kw_only=True):
    """A sub-agent has begun its turn, or a call of it left these facts. `id` is the call that began the
    sub-agent; its result has all facts again. `place` says to the model where its work tree is; "" if it has
    none, and after the beginning."""

    turn: int
    id: str
    facts: tuple[Fact, ...] = ()
    place: str = ""


class AgentEvent(Passing, frozen=True, kw_only=True):
    """An event in the session of a sub-agent. `id` is the call that began it, `agent` its name."""

    turn: int
    id: str
    agent: str
    event: OwnEvent


EndEvent = TurnDone | TurnIncomplete | TurnError
OwnTurnEvent = (
    TurnStarted
    | StepRestarted
    | TextDelta
    | ReasoningDelta
    | ToolStarted
    | CallTried
    | ToolOutput
    | ToolFinished
    | ApprovalRequested
    | ApprovalAnswered
    | HostContacted
    | WebSearched
    | QuestionAsked
    | QuestionAnswered
    | Usage
    | RetryScheduled
    | Notice
    | Steered
    | ImagesAttached
    | SkillCalled
    | ResourcesAttached
    | ContextAdded
    | HookRunning
    | AgentWorked
    | EndEvent
)
TurnEvent = OwnTurnEvent | AgentEvent
RunEvent = RunBegun | RunContinued | RunWaiting | RunWaited | RunAsked | RunEnded
CompactionEvent = CompactionStarted | CompactionDelta | Compacted | CompactionFailed
SessionEvent = (
    TurnAbandoned
    | TurnUndone
    | MessageTakenBack
    | MemoryEdited
    | QueueChanged
    | ModeChanged
    | SandboxFound
    | ModelChanged
    | PolicyChanged
    | PendingKept
    | ReviewUsed
    | ContextMeasured
    | BackgroundChanged
    | NoticeOver
    | SessionOpened
    | SessionRestored
    | SessionRenamed
    | CompactionEvent
    | RunEvent
    | ShellStarted
    | ShellFinished
)
OwnEvent = OwnTurnEvent | SessionEvent
"""What a session tells of itself, without its sub-agents."""
Event = OwnEvent | AgentEvent


def is_stored(event: Event) -> bool:
    """Whether a session file holds the event."""
    match event:
        case Stored():
            return True
        case Passing():
            return False
    assert_never(event)
