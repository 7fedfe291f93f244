"""What the screen shows, as a value, and the pure function that moves it from event to event.

`past` holds the blocks of earlier turns and `live` those of the newest one, so that a delta costs the
same in the first turn and in the thousandth. Folding, scrolling and focus are the widgets' own business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from keen_tui.events import (
    ApprovalAnswered,
    ApprovalRequested,
    EndEvent,
    Event,
    MessageTakenBack,
    Mode,
    ModeChanged,
    ModelChanged,
    Notice,
    QueueChanged,
    ReasoningDelta,
    RetryScheduled,
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
    Usage,
)
from keen_tui.memory.recorder import turn_memory
from keen_tui.messages import Fact, FileChanged, TokenUsage, ToolResult, TurnMemory

TAIL_KEPT = 4_096
"""Characters of a running call's live output that the screen keeps."""

ToolStatus = Literal["running", "asks", "done", "failed", "denied", "stopped", "not_run"]
Phase = Literal["idle", "waiting", "thinking", "answering", "tool", "asking", "retrying"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserBlock:
    turn: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Assistant text. `open` while its step streams; `lost` when that step was cut for good."""

    turn: int
    step: int
    text: str
    open: bool = True
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningBlock:
    turn: int
    step: int
    text: str
    seconds: float
    open: bool = True
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBlock:
    """A tool call. `tail` is its newest live output; `result` is there once it finished.

    `started_at` is on the clock of `apply`, `seconds` the time it took.
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
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBlock:
    """The step is tried again at `due` (clock of `apply`). Gone with the first sign of life."""

    retry: RetryScheduled
    due: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeBlock:
    turn: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndBlock:
    """How the turn ended. `settled` says what became of an incomplete or failed end since."""

    end: EndEvent
    lost_words: int = 0
    settled: Literal["", "retried", "abandoned"] = ""

    @property
    def turn(self) -> int:
        return self.end.turn


Block = UserBlock | TextBlock | ReasoningBlock | ToolBlock | RetryBlock | NoticeBlock | EndBlock
TurnStatus = Literal["running", "done", "pending", "failed", "abandoned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn in the side panels. `facts` fill live; `carried_bytes` is known once it is settled."""

    turn: int
    title: str
    status: TurnStatus = "running"
    facts: tuple[Fact, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    attempt: int = 1
    carried_bytes: int | None = None
    trace_bytes: int | None = None

    @property
    def memory(self) -> TurnMemory:
        return turn_memory(self.facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UiState:
    """Everything that is drawn. `failed` and `pending` hold the end event that the two keys answer;
    `model` is the newest change of the model, None while it is the one of the beginning."""

    mode: Mode = "ask"
    model: ModelChanged | None = None
    past: tuple[Block, ...] = ()
    live: tuple[Block, ...] = ()
    turns: tuple[TurnRow, ...] = ()
    phase: Phase = "idle"
    phase_since: float = 0.0
    turn_started_at: float = 0.0
    recovering: int = 0
    approval: ApprovalRequested | None = None
    pending: TurnIncomplete | None = None
    failed: TurnError | None = None
    queue: tuple[str, ...] = ()
    notice: str = ""
    taken_back: str = ""
    context_tokens: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def running(self) -> bool:
        return self.phase != "idle"


def apply(state: UiState, event: Event, now: float) -> UiState:
    """The state after `event`. `now` is seconds on any clock that never goes back."""
    after = _applied(state, event, now)
    return after if after.phase == state.phase else replace(after, phase_since=now)


def apply_all(state: UiState, events: Iterable[Event], now: float) -> UiState:
    """The state after a batch of events."""
    for event in events:
        state = apply(state, event, now)
    return state


def _applied(state: UiState, event: Event, now: float) -> UiState:
    match event:
        case TurnStarted():
            return _turn_started(state, event, now)
        case TextDelta():
            return replace(_add_text(_alive(state), event), phase="answering")
        case ReasoningDelta():
            return replace(_add_reasoning(_alive(state), event), phase="thinking")
        case StepRestarted():
            kept = (block for block in _without_retry(state.live) if not _is_open(block))
            return replace(state, live=tuple(kept), phase="waiting")
        case RetryScheduled():
            row = RetryBlock(retry=event, due=now + event.delay)
            return replace(state, live=(*_without_retry(state.live), row), phase="retrying")
        case ToolStarted():
            return _tool_started(_alive(state), event, now)
        case ToolOutput():
            return _tool_output(state, event)
        case ToolFinished():
            return _tool_finished(state, event)
        case ApprovalRequested():
            live = _with_status(state.live, event.id, "asks")
            return replace(state, approval=event, live=live, phase="asking")
        case ApprovalAnswered():
            live = _with_status(state.live, event.id, "running", now)
            return replace(state, approval=None, live=live, phase="tool")
        case Usage():
            return _add_usage(state, event.tokens)
        case Notice():
            if event.turn == 0:
                return replace(state, notice=event.text)
            return replace(state, live=(*state.live, NoticeBlock(turn=event.turn, text=event.text)))
        case TurnDone() | TurnIncomplete() | TurnError():
            return _turn_ended(state, event)
        case TurnAbandoned():
            return _turn_abandoned(state, event)
        case MessageTakenBack():
            return _taken_back(state, event)
        case QueueChanged():
            return replace(state, queue=event.texts)
        case ModeChanged():
            return replace(state, mode=event.mode)
        case ModelChanged():
            return replace(state, model=event)
        case _:
            assert_never(event)


def _turn_started(state: UiState, event: TurnStarted, now: float) -> UiState:
    fresh = replace(
        state,
        phase="waiting",
        turn_started_at=now,
        recovering=event.recovering,
        notice="",
        taken_back="",
        failed=None,
    )
    if event.text is None:
        live = tuple(_settle_end(block, event.turn, "retried") for block in state.live)
        return _with_row(
            replace(fresh, live=live),
            event.turn,
            lambda row: replace(row, status="running", attempt=event.attempt),
        )
    row = TurnRow(turn=event.turn, title=event.text.strip().split("\n", 1)[0])
    return replace(
        fresh,
        past=state.past + state.live,
        live=(UserBlock(turn=event.turn, text=event.text),),
        turns=(*state.turns, row),
    )


def _turn_ended(state: UiState, end: EndEvent) -> UiState:
    lost = [block for block in state.live if _is_open(block)] if not isinstance(end, TurnDone) else []
    live = tuple(_closed(block, lost=block in lost) for block in _without_retry(state.live))
    lost_words = sum(len(block.text.split()) for block in lost if isinstance(block, TextBlock))
    ended = replace(
        state,
        live=(*live, EndBlock(end=end, lost_words=lost_words)),
        phase="idle",
        approval=None,
        recovering=0,
    )
    match end:
        case TurnDone():
            turns = tuple(
                replace(row, status="done") if row.status == "pending" else row for row in state.turns
            )
            past = (
                tuple(_settle_end(block, 0, "retried") for block in state.past)
                if state.pending
                else state.past
            )
            done = replace(ended, pending=None, failed=None, turns=turns, past=past)
            return _with_row(
                replace(done, failed=None),
                end.turn,
                lambda row: replace(
                    row,
                    status="done",
                    calls=end.calls,
                    seconds=end.seconds,
                    facts=_facts(end.turn_memory),
                    carried_bytes=end.carried_bytes,
                    trace_bytes=end.trace_bytes,
                ),
            )
        case TurnIncomplete():
            return _with_row(
                replace(ended, pending=end, failed=None),
                end.turn,
                lambda row: replace(
                    row,
                    status="pending",
                    calls=end.calls,
                    seconds=end.seconds,
                    facts=_facts(end.turn_memory),
                    trace_bytes=end.trace_bytes,
                ),
            )
        case TurnError():
            return _with_row(
                replace(ended, failed=end),
                end.turn,
                lambda row: replace(row, status="failed", seconds=end.seconds),
            )


def _turn_abandoned(state: UiState, event: TurnAbandoned) -> UiState:
    return _with_row(
        _pending_settled(state, "abandoned", "abandoned"),
        event.turn,
        lambda row: replace(
            row,
            status="abandoned",
            facts=_facts(event.turn_memory),
            carried_bytes=event.carried_bytes,
            trace_bytes=event.trace_bytes,
        ),
    )


def _pending_settled(state: UiState, how: Literal["retried", "abandoned"], status: TurnStatus) -> UiState:
    """No turn is pending any more: their end blocks say how it went on, their rows have `status`."""
    return replace(
        state,
        past=tuple(_settle_end(block, 0, how) for block in state.past),
        live=tuple(_settle_end(block, 0, how) for block in state.live),
        turns=tuple(replace(row, status=status) if row.status == "pending" else row for row in state.turns),
        pending=None,
    )


def _taken_back(state: UiState, event: MessageTakenBack) -> UiState:
    def without(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(block for block in blocks if _turn_of(block) != event.turn)

    turns = tuple(row for row in state.turns if row.turn != event.turn)
    return replace(
        state,
        past=without(state.past),
        live=without(state.live),
        turns=turns,
        failed=None,
        taken_back=event.text,
    )


def _add_text(state: UiState, event: TextDelta) -> UiState:
    last = state.live[-1] if state.live else None
    if isinstance(last, TextBlock) and last.open and last.step == event.step:
        return replace(state, live=(*state.live[:-1], replace(last, text=last.text + event.text)))
    added = TextBlock(turn=event.turn, step=event.step, text=event.text)
    return replace(state, live=(*state.live, added))


def _add_reasoning(state: UiState, event: ReasoningDelta) -> UiState:
    last = state.live[-1] if state.live else None
    if isinstance(last, ReasoningBlock) and last.open and last.step == event.step:
        grown = replace(last, text=last.text + event.text, seconds=event.seconds)
        return replace(state, live=(*state.live[:-1], grown))
    added = ReasoningBlock(turn=event.turn, step=event.step, text=event.text, seconds=event.seconds)
    return replace(state, live=(*state.live, added))


def _tool_started(state: UiState, event: ToolStarted, now: float) -> UiState:
    row = ToolBlock(
        turn=event.turn,
        id=event.id,
        name=event.name,
        target=event.target,
        status="running",
        started_at=now,
    )
    live = tuple(_closed(block, lost=False) for block in state.live)
    return replace(state, live=(*live, row), phase="tool")


def _tool_output(state: UiState, event: ToolOutput) -> UiState:
    def grown(block: Block) -> Block:
        if isinstance(block, ToolBlock) and block.id == event.id:
            tail = (block.tail + event.text)[-TAIL_KEPT:]
            return replace(block, tail=tail, lines=event.lines, bytes=event.bytes)
        return block

    return replace(state, live=tuple(grown(block) for block in state.live))


def _tool_finished(state: UiState, event: ToolFinished) -> UiState:
    def finished(block: Block) -> Block:
        if isinstance(block, ToolBlock) and block.id == event.id:
            return replace(
                block, status=_status(event.result), result=event.result, seconds=event.seconds, tail=""
            )
        return block

    live = tuple(finished(block) for block in state.live)
    row = next((row for row in state.turns if row.turn == event.turn), None)
    waiting = replace(state, live=live, phase="waiting")
    if row is None:
        return waiting
    return _with_row(
        waiting,
        event.turn,
        lambda row: replace(row, facts=row.facts + event.result.facts, calls=row.calls + 1),
    )


def _add_usage(state: UiState, tokens: TokenUsage) -> UiState:
    used_in, used_out = tokens.input_tokens, tokens.output_tokens
    context = None if used_in is None else used_in + (used_out or 0)
    return replace(
        state,
        context_tokens=context if context is not None else state.context_tokens,
        input_tokens=state.input_tokens + (used_in or 0),
        output_tokens=state.output_tokens + (used_out or 0),
    )


def _status(result: ToolResult) -> ToolStatus:
    if result.denied:
        return "denied"
    if result.interrupted:
        return "stopped" if result.ran else "not_run"
    return "failed" if result.is_error or result.exit_code else "done"


def _with_row(state: UiState, turn: int, change: Callable[[TurnRow], TurnRow]) -> UiState:
    return replace(state, turns=tuple(change(row) if row.turn == turn else row for row in state.turns))


def _facts(memory: TurnMemory) -> tuple[Fact, ...]:
    return (*(FileChanged(path=path) for path in memory.files_changed), *memory.failed_bash)


def _alive(state: UiState) -> UiState:
    return replace(state, live=_without_retry(state.live))


def _without_retry(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not isinstance(block, RetryBlock))


def _is_open(block: Block) -> bool:
    return isinstance(block, TextBlock | ReasoningBlock) and block.open


def _closed(block: Block, *, lost: bool) -> Block:
    if isinstance(block, TextBlock | ReasoningBlock) and block.open:
        return replace(block, open=False, lost=lost)
    return block


def _settle_end(block: Block, turn: int, how: Literal["retried", "abandoned"]) -> Block:
    """Mark the unfinished ends of `turn` (0: of every turn) as retried or abandoned."""
    if (
        isinstance(block, EndBlock)
        and not isinstance(block.end, TurnDone)
        and not block.settled
        and turn in (0, block.end.turn)
    ):
        return replace(block, settled=how)
    return block


def _turn_of(block: Block) -> int:
    return block.retry.turn if isinstance(block, RetryBlock) else block.turn


def _with_status(
    blocks: tuple[Block, ...], call_id: str, status: ToolStatus, started_at: float | None = None
) -> tuple[Block, ...]:
    def changed(block: Block) -> Block:
        if isinstance(block, ToolBlock) and block.id == call_id:
            return replace(
                block, status=status, started_at=block.started_at if started_at is None else started_at
            )
        return block

    return tuple(changed(block) for block in blocks)
