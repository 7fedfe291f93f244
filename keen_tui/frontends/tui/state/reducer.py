"""The pure function that moves the state of the screen from event to event."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from keen_tui.agent.until.progress import after as progress_after
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
from keen_tui.domain.messages import Image
from keen_tui.frontends.tui.state.agent_reducer import agent_at_work
from keen_tui.frontends.tui.state.call_reducer import asked, call_changed
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
    ReasoningBlock,
    RetryBlock,
    TextBlock,
    UiState,
    UserBlock,
)
from keen_tui.frontends.tui.state.state_edits import (
    alive,
    retried,
    searched,
    utf8_bytes,
    with_newest,
    with_row,
    with_short_live,
    without_retry,
)
from keen_tui.frontends.tui.state.turn_reducer import taken_back, turn_abandoned, turn_ended, turn_started
from keen_tui.text.labels import image_line, resource_line, skill_line


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
        case ToolStarted() | CallTried() | ToolOutput() | ToolFinished() | HostContacted():
            return call_changed(state, event, now)
        case ApprovalRequested() | ApprovalAnswered() | QuestionAsked() | QuestionAnswered():
            return asked(state, event, now)
        case WebSearched():
            number = len(state.turn_past) + len(state.live)
            return replace(state, live=(*state.live, searched(event, now, number)))
        case Usage() | ReviewUsed():
            return usage_added(state, event)
        case Notice():
            return noticed(state, event)
        case NoticeOver():
            return notice_over(state, event)
        case Steered() | ImagesAttached() | SkillCalled() | ResourcesAttached():
            return _message_changed(state, event)
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
            return _noted(state, event)


def _message_changed(
    state: UiState, event: Steered | ImagesAttached | SkillCalled | ResourcesAttached
) -> UiState:
    match event:
        case Steered():
            said = replace(state, live=(*state.live, UserBlock(turn=event.turn, text=event.text)))
            return _with_words(said, event.turn, utf8_bytes(event.text))
        case ImagesAttached():
            return _with_images(state, event)
        case SkillCalled():
            return _with_skill(state, event)
        case ResourcesAttached():
            return _with_resources(state, event)


def _noted(
    state: UiState,
    event: QueueChanged
    | ModeChanged
    | SandboxFound
    | ModelChanged
    | PolicyChanged
    | PendingKept
    | BackgroundChanged
    | ContextMeasured,
) -> UiState:
    """A value of the session is another one now."""
    match event:
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


def _cut(state: UiState) -> tuple[Block, ...]:
    """The live blocks where a step is tried again."""
    return tuple(map(retried, without_retry(state.live)))


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
    state = with_row(state, event.turn, lambda row: replace(row, facts=row.facts + skill.facts))
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


def _counted(state: UiState, event: Event) -> UiState:
    """With what the event leaves out of later requests."""
    return replace(state, left_out=state.left_out.after(event))
