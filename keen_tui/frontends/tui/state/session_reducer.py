"""How the state of the screen goes on by what happens to a session between its turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from msgspec.structs import replace

from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionEvent,
    CompactionFailed,
    CompactionStarted,
    MemoryEdited,
    Notice,
    NoticeOver,
    ReviewUsed,
    RunAsked,
    RunBegun,
    RunContinued,
    RunEnded,
    RunEvent,
    RunWaited,
    RunWaiting,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    ShellFinished,
    ShellStarted,
    TurnUndone,
    Usage,
)
from keen_tui.domain.messages import CommandRun, Message
from keen_tui.frontends.tui.state.state import (
    OWN_COMMAND,
    Block,
    CompactionBlock,
    NoticeBlock,
    Phase,
    ToolBlock,
    UiState,
)
from keen_tui.frontends.tui.state.state_edits import (
    alive,
    finished,
    is_unsettled,
    utf8_bytes,
    with_row,
    without_retry,
)
from keen_tui.memory.rendering import render_user
from keen_tui.text.run_words import limits_words, report_lines, run_begins


def session_changed(state: UiState, event: SessionOpened | SessionRestored | SessionRenamed) -> UiState:
    match event:
        case SessionOpened():
            return UiState(
                replay="playing" if state.replay else "",
                mode=state.mode,
                sandbox=state.sandbox,
                policy=state.policy,
                keeps_pending=state.keeps_pending,
                model=state.model,
                tasks=state.tasks,
                session_id=event.id,
                title=event.title,
                restoring=event.restoring,
                unsent=(*state.steered, *state.queue),
            )
        case SessionRestored():
            return replace(
                state,
                restoring=False,
                taken_back="",
                context_tokens=None,
                notice=event.skipped,
                replay="over" if state.replay else "",
            )
        case SessionRenamed():
            return replace(state, title=event.title)


def noticed(state: UiState, event: Notice) -> UiState:
    """A sentence in the transcript; one that belongs to no turn is shown for a moment. An end that waits for
    the user stays the last block."""
    if event.turn == 0:
        return replace(state, notice=event.text)
    block = NoticeBlock(turn=event.turn, text=event.text)
    if state.live and is_unsettled(state.live[-1]):
        return replace(state, live=(*state.live[:-1], block, state.live[-1]))
    return replace(state, live=(*state.live, block))


def notice_over(state: UiState, event: NoticeOver) -> UiState:
    """The sentence goes from above the composer, and from the blocks that can still change."""

    def is_over(block: Block) -> bool:
        return isinstance(block, NoticeBlock) and block.text == event.text

    return replace(
        state,
        notice="" if state.notice == event.text else state.notice,
        notices_over=(*state.notices_over, event.text),
        live=tuple(block for block in state.live if not is_over(block)),
    )


def compaction(state: UiState, event: CompactionEvent) -> UiState:
    match event:
        case CompactionStarted():
            turn = state.turns[-1].turn if state.turns else 0
            begun = CompactionBlock(turn=turn, start=event)
            return replace(state, live=_before_open_end(without_retry(state.live), begun), phase="compacting")
        case CompactionDelta(text=text):
            return _with_compaction(state, lambda block: replace(block, text=block.text + text))
        case Compacted():
            done = _with_compaction(state, lambda block: replace(block, text=event.summary, end=event))
            return replace(
                done,
                turns=done.turns.mapped(
                    lambda row: (
                        replace(row, carried_bytes=0, summarised=True) if row.turn <= event.turn else row
                    )
                ),
                summary_bytes=event.bytes_after,
                left_out=state.left_out.after(event),
                context_tokens=None,
                phase=_phase_between(state),
            )
        case CompactionFailed():
            failed = _with_compaction(alive(state), lambda block: replace(block, end=event))
            return replace(failed, phase=_phase_between(state))


def own_command(state: UiState, event: ShellStarted | ShellFinished, now: float) -> UiState:
    match event:
        case ShellStarted():
            block = ToolBlock(
                turn=event.turn,
                id=event.id,
                name=OWN_COMMAND,
                target=event.command,
                status="running",
                started_at=now,
            )
            live = _before_open_end(without_retry(state.live), block)
            return replace(state, live=live, phase="shell", notice="")
        case ShellFinished():
            live = tuple(_ended(block, event) for block in state.live)
            return replace(state, live=live, phase="idle", ran_bytes=state.ran_bytes + _ran_bytes(event))


def _ran_bytes(end: ShellFinished) -> int:
    """Returns the bytes that the command adds to the next message."""
    ran = CommandRun(command=end.command, text=end.result.text)
    return utf8_bytes(render_user(Message(role="user", text="", turn=end.turn, ran=(ran,))))


def _ended(block: Block, end: ShellFinished) -> Block:
    if not isinstance(block, ToolBlock) or block.id != end.id:
        return block
    return finished(block, end.result, end.seconds, packs=False)


def _before_open_end(live: tuple[Block, ...], begun: Block) -> tuple[Block, ...]:
    """The blocks with one more at their end; an end that waits for the user stays the last one."""
    kept = tuple(block for block in live if not _is_under_way(block))
    if kept and is_unsettled(kept[-1]):
        return (*kept[:-1], begun, kept[-1])
    return (*kept, begun)


def _phase_between(state: UiState) -> Phase:
    """Returns the phase after a compaction: the turn that it preceded goes on, or nothing runs."""
    return "waiting" if state.turn_running else "idle"


def _with_compaction(state: UiState, change: Callable[[CompactionBlock], CompactionBlock]) -> UiState:
    """Change the compaction that is under way."""
    live = tuple(change(block) if _is_under_way(block) else block for block in state.live)
    return replace(state, live=live)


def _is_under_way(block: Block) -> TypeGuard[CompactionBlock]:
    return isinstance(block, CompactionBlock) and block.end is None


def run_changed(state: UiState, event: RunEvent) -> UiState:
    """The beginning and the report of a run are blocks; the status bar shows what is between them."""
    match event:
        case RunBegun():
            return _with_notice(state, run_begins(event))
        case RunContinued(limits=limits):
            return _with_notice(state, f"The run continues. {limits_words(limits)}")
        case RunEnded(report=report):
            return _with_notice(state, "\n".join(report_lines(report)))
        case RunWaiting() | RunWaited() | RunAsked():
            return state


def _with_notice(state: UiState, text: str) -> UiState:
    turn = state.turns[-1].turn if state.turns else 0
    return replace(state, live=(*state.live, NoticeBlock(turn=turn, text=text)))


def memory_edited(state: UiState, event: MemoryEdited) -> UiState:
    facts, carried = event.turn_memory.facts, event.carried_bytes
    return with_row(
        state, event.turn, lambda row: replace(row, facts=facts, edited=True, carried_bytes=carried)
    )


def turn_undone(state: UiState, event: TurnUndone) -> UiState:
    files = f"{len(event.files)} file{'s' if len(event.files) != 1 else ''}"
    text = f"Changes of turn {event.undone} undone: {files}."
    return replace(state, live=(*state.live, NoticeBlock(turn=event.turn, text=text)))


def usage_added(state: UiState, event: Usage | ReviewUsed) -> UiState:
    """A turn, a summary or a review has used tokens."""
    usage, left_out = event.usage if isinstance(event, ReviewUsed) else event, state.left_out
    counted = replace(state, spent=state.spent.plus(usage, left_out))
    return with_row(counted, usage.turn, lambda row: replace(row, spent=row.spent.plus(usage, left_out)))
