"""The pure function that moves the state of the screen from event to event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from msgspec.structs import replace

from keen_tui.agent.until.progress import after as progress_after
from keen_tui.domain.display import TodoDisplay
from keen_tui.domain.events import (
    AgentEvent,
    AgentWorked,
    ApprovalAnswered,
    ApprovalRequested,
    BackgroundChanged,
    CallTried,
    Compacted,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
    ContextAdded,
    ContextMeasured,
    Event,
    HookRunning,
    HostContacted,
    ImagesAttached,
    MemoryEdited,
    MessageTakenBack,
    ModeChanged,
    ModelChanged,
    Notice,
    NoticeOver,
    PendingKept,
    PolicyChanged,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    ReasoningDelta,
    ResourcesAttached,
    RetryScheduled,
    ReviewUsed,
    RunAsked,
    RunBegun,
    RunContinued,
    RunEnded,
    RunWaited,
    RunWaiting,
    SandboxFound,
    SessionEvent,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    ShellFinished,
    ShellStarted,
    SkillCalled,
    Steered,
    StepRestarted,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
    Usage,
    WebSearched,
)
from keen_tui.domain.messages import Image, SkillUsed
from keen_tui.domain.recorded import kept_out_bytes, recalled_bytes
from keen_tui.frontends.tui.state.agent_reducer import AGENT, agent_at_work, is_of_call
from keen_tui.frontends.tui.state.session_reducer import (
    compaction,
    memory_edited,
    notice_over,
    noticed,
    own_command,
    run_changed,
    session_changed,
    turn_undone,
    usage_added,
)
from keen_tui.frontends.tui.state.state import (
    Block,
    Phase,
    ReasoningBlock,
    RetryBlock,
    TextBlock,
    Todos,
    ToolBlock,
    ToolStatus,
    UiState,
    UserBlock,
)
from keen_tui.frontends.tui.state.state_edits import (
    alive,
    closed,
    finished,
    retried,
    searched,
    utf8_bytes,
    with_call,
    with_newest,
    with_row,
    with_short_live,
    without_retry,
)
from keen_tui.frontends.tui.state.turn_reducer import taken_back, turn_abandoned, turn_ended, turn_started
from keen_tui.text.labels import image_line, resource_line, skill_line

TAIL_KEPT = 4_096
"""Characters of a running call's live output that the screen keeps."""


def apply(state: UiState, event: Event, now: float) -> UiState:
    """The state after `event`. `now` is seconds on any clock that never goes back."""
    after = with_short_live(_applied(state, event, now))
    if state.run.is_on or isinstance(event, RunBegun):
        after = replace(after, run=progress_after(state.run, event))
    if after.running and after.last_word_at != now and not isinstance(event, SessionEvent):
        after = replace(after, last_word_at=now)
    if after.phase == state.phase or after.phase_since == now:
        return after
    return replace(after, phase_since=now)


def apply_all(state: UiState, events: Iterable[Event], now: float) -> UiState:
    """The state after a batch of events."""
    for event in events:
        state = apply(state, event, now)
    return state


def _applied(state: UiState, event: Event, now: float) -> UiState:
    match event:
        case TurnStarted():
            return turn_started(state, event, now)
        case TextDelta():
            return _add_text(alive(state), event)
        case ReasoningDelta():
            return _add_reasoning(alive(state), event)
        case StepRestarted():
            return replace(state, live=_cut(state), phase="waiting")
        case RetryScheduled():
            row = RetryBlock(retry=event, due=now + event.delay)
            return replace(state, live=(*_cut(state), row), phase="retrying")
        case ToolStarted():
            return _tool_started(alive(state), event, now)
        case CallTried():
            live = with_call(state.live, event.id, lambda block: replace(block, is_tried=True))
            return replace(state, live=live)
        case ToolOutput():
            return _tool_output(state, event)
        case ToolFinished():
            return _tool_finished(state, event)
        case ApprovalRequested():
            live = _with_status(state.live, event.id, "asks")
            return replace(state, approval=event, live=live, phase="asking")
        case ApprovalAnswered():
            state = replace(_answered(state, event.id, now), approval=None)
            live = with_call(state.live, event.id, lambda block: replace(block, is_tried=False))
            return replace(state, live=live)
        case HostContacted():
            return _contacted(state, event)
        case WebSearched():
            number = len(state.turn_past) + len(state.live)
            return replace(state, live=(*state.live, searched(event, now, number)))
        case QuestionAsked():
            live = _with_status(state.live, event.id, "asks")
            return replace(state, asked=event, live=live, phase="asking")
        case QuestionAnswered():
            return replace(_answered(state, event.id, now), asked=None)
        case Usage() | ReviewUsed():
            return usage_added(state, event)
        case Notice():
            return noticed(state, event)
        case NoticeOver():
            return notice_over(state, event)
        case Steered():
            said = replace(state, live=(*state.live, UserBlock(turn=event.turn, text=event.text)))
            return _with_words(said, event.turn, utf8_bytes(event.text))
        case ImagesAttached():
            return _with_images(state, event)
        case SkillCalled():
            return _with_skill(state, event)
        case ResourcesAttached():
            return _with_resources(state, event)
        case AgentEvent() | AgentWorked():
            return agent_at_work(state, event)
        case ContextAdded():
            return state  # a notice tells of it
        case HookRunning():
            return replace(state, hook=event.label)
        case TurnDone() | TurnIncomplete() | TurnError():
            return turn_ended(_counted(state, event), event)
        case TurnAbandoned():
            return turn_abandoned(_counted(state, event), event)
        case MessageTakenBack():
            return taken_back(state, event)
        case QueueChanged():
            return replace(state, queue=event.texts, steered=event.steered)
        case ModeChanged():
            return replace(state, mode=event.mode)
        case SandboxFound():
            return replace(state, sandbox=event, notice=event.reason or state.notice)
        case ModelChanged():
            return replace(state, model=event)
        case PolicyChanged():
            return replace(state, policy=event.policy)
        case PendingKept():
            return replace(state, keeps_pending=event.durable)
        case BackgroundChanged():
            return replace(state, tasks=event.tasks)
        case ContextMeasured():
            return replace(state, context_tokens=event.tokens)
        case SessionOpened() | SessionRestored() | SessionRenamed():
            return session_changed(state, event)
        case CompactionStarted() | CompactionDelta() | Compacted() | CompactionFailed():
            return compaction(state, event)
        case ShellStarted() | ShellFinished():
            return own_command(state, event, now)
        case RunBegun() | RunContinued() | RunWaiting() | RunWaited() | RunAsked() | RunEnded():
            return run_changed(state, event)
        case MemoryEdited():
            return memory_edited(state, event)
        case TurnUndone():
            return turn_undone(state, event)
        case _:
            assert_never(event)


def _cut(state: UiState) -> tuple[Block, ...]:
    """The live blocks where a step is tried again."""
    return tuple(map(retried, without_retry(state.live)))


def _answered(state: UiState, call_id: str, now: float) -> UiState:
    """A call has its answer. The time in which it was waited for is not the turn's."""
    waited = now - state.phase_since if state.phase == "asking" else 0.0
    live = _with_status(state.live, call_id, "running", now)
    return replace(state, live=live, phase="tool", turn_started_at=state.turn_started_at + waited)


def _with_words(state: UiState, turn: int, said_bytes: int) -> UiState:
    """The user has said that much more in a turn."""
    return with_row(state, turn, lambda row: replace(row, said_bytes=row.said_bytes + said_bytes))


def _with_images(state: UiState, event: ImagesAttached) -> UiState:
    """The newest message of the turn says what goes with it."""
    state = _with_words(state, event.turn, sum(_sent_bytes(image) for image in event.images))
    lines = tuple(map(image_line, event.images))
    return _with_newest_message(state, event.turn, lambda block: replace(block, images=lines))


def _with_skill(state: UiState, event: SkillCalled) -> UiState:
    """The newest message of the turn says which skill it calls, and the turn's memory has it."""
    skill, words = event.skill, skill_line(event.skill)
    used = (SkillUsed(name=skill.name, bytes=skill.bytes),) if skill.bytes else ()
    state = with_row(state, event.turn, lambda row: replace(row, facts=(*row.facts, *used)))
    state = _with_attached(state, event.turn, utf8_bytes(skill.text))
    return _with_newest_message(state, event.turn, lambda block: replace(block, skill=words))


def _with_resources(state: UiState, event: ResourcesAttached) -> UiState:
    """The newest message of the turn says which resources it names."""
    images = (image for each in event.resources for image in each.images)
    size = sum(utf8_bytes(each.text) for each in event.resources) + sum(map(_sent_bytes, images))
    lines = tuple(map(resource_line, event.resources))
    state = _with_attached(state, event.turn, size)
    return _with_newest_message(state, event.turn, lambda block: replace(block, resources=lines))


def _with_attached(state: UiState, turn: int, size: int) -> UiState:
    """So much more goes with the turn's messages, for this turn only."""
    return with_row(state, turn, lambda row: replace(row, attached_bytes=row.attached_bytes + size))


def _with_newest_message(state: UiState, turn: int, change: Callable[[UserBlock], UserBlock]) -> UiState:
    """Change the block of the turn's newest message."""

    def told(block: Block) -> Block:
        return change(block) if isinstance(block, UserBlock) else block

    return with_newest(state, lambda block: isinstance(block, UserBlock) and block.turn == turn, told)


def _sent_bytes(image: Image) -> int:
    """Bytes of an image in a request, where it stands as Base64."""
    return 4 * ((len(image.content) + 2) // 3)


def _add_text(state: UiState, event: TextDelta) -> UiState:
    last = state.live[-1] if state.live else None
    if isinstance(last, TextBlock) and last.open and last.step == event.step:
        grown = replace(last, text=last.text + event.text)
        return replace(state, live=(*state.live[:-1], grown), phase="answering")
    added = TextBlock(turn=event.turn, step=event.step, text=event.text)
    return replace(state, live=(*state.live, added), phase="answering")


def _add_reasoning(state: UiState, event: ReasoningDelta) -> UiState:
    last = state.live[-1] if state.live else None
    if isinstance(last, ReasoningBlock) and last.open and last.step == event.step:
        grown = replace(last, text=last.text + event.text, seconds=event.seconds)
        return replace(state, live=(*state.live[:-1], grown), phase="thinking")
    added = ReasoningBlock(turn=event.turn, step=event.step, text=event.text, seconds=event.seconds)
    return replace(state, live=(*state.live, added), phase="thinking")


def _tool_started(state: UiState, event: ToolStarted, now: float) -> UiState:
    row = ToolBlock(
        turn=event.turn,
        id=event.id,
        name=event.name,
        target=event.target,
        status="running",
        started_at=now,
    )
    live = (*(closed(block, lost=False) for block in state.live), row)
    return replace(state, live=live, phase=_phase_of_calls(state, live))


def _tool_output(state: UiState, event: ToolOutput) -> UiState:
    def grown(block: ToolBlock) -> ToolBlock:
        tail = (block.tail + event.text)[-TAIL_KEPT:]
        return replace(block, tail=tail, lines=event.lines, bytes=event.bytes)

    return replace(state, live=with_call(state.live, event.id, grown))


def _contacted(state: UiState, event: HostContacted) -> UiState:
    """A command in the background may reach a host after its call has ended. When the next turn has begun,
    that isn't shown any more."""
    if not state.turns or event.turn != state.turns[-1].turn:
        return state

    def is_call(block: Block) -> bool:
        return isinstance(block, ToolBlock) and (block.turn, block.id) == (event.turn, event.id)

    def changed(block: Block) -> Block:
        return replace(block, contacts=(*block.contacts, event)) if isinstance(block, ToolBlock) else block

    return with_newest(state, is_call, changed)


def _tool_finished(state: UiState, event: ToolFinished) -> UiState:
    def ended(block: ToolBlock) -> ToolBlock:
        return finished(block, event.result, event.seconds, packs=not state.restoring)

    live, todos = with_call(state.live, event.id, ended), state.todos
    if isinstance(event.result.display, TodoDisplay):
        todos = Todos(items=event.result.display.items, turn=event.turn, call_id=event.id)
    return with_row(
        replace(state, live=live, todos=todos, phase=_phase_of_calls(state, live)),
        event.turn,
        lambda row: replace(
            row,
            facts=row.facts + (() if event.name == AGENT else event.result.facts),
            calls=row.calls + (not event.result.unfinished),
            failures=row.failures + (event.result.outcome == "failed"),
            recalled_bytes=row.recalled_bytes + recalled_bytes(event.name, event.result),
            kept_out_bytes=row.kept_out_bytes + kept_out_bytes(event.result),
        ),
    )


def _phase_of_calls(state: UiState, live: Sequence[Block]) -> Phase:
    """What goes on once a call has begun or ended: others of its step may run or ask, too."""
    if state.approval or state.asked:
        return "asking"
    running = any(isinstance(block, ToolBlock) and block.status == "running" for block in live)
    return "tool" if running else "waiting"


def _counted(state: UiState, event: Event) -> UiState:
    """With what the event leaves out of later requests."""
    return replace(state, left_out=state.left_out.after(event))


def _with_status(
    blocks: tuple[Block, ...], call_id: str, status: ToolStatus, started_at: float | None = None
) -> tuple[Block, ...]:
    def changed(block: Block) -> Block:
        if isinstance(block, ToolBlock) and is_of_call(block, call_id):
            if started_at is None or block.id != call_id:
                return replace(block, status=status)
            return replace(block, status=status, started_at=started_at, tail="", lines=0, bytes=0)
        return block

    return tuple(changed(block) for block in blocks)
