"""The reducer: what the screen shows after each kind of event."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from keen_tui.domain.events import (
    ApprovalAnswered,
    BackgroundChanged,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
    ContextMeasured,
    Event,
    HostContacted,
    MessageTakenBack,
    ModeChanged,
    Notice,
    QueueChanged,
    ReasoningDelta,
    RetryScheduled,
    SandboxFound,
    SessionOpened,
    StepRestarted,
    TextDelta,
    ToolOutput,
    TurnAbandoned,
    TurnError,
    Usage,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import TokenUsage, ToolResult, TurnMemory
from keen_tui.frontends.tui.state.reducer import apply, apply_all
from keen_tui.frontends.tui.state.state import (
    CompactionBlock,
    EndBlock,
    NoticeBlock,
    ReasoningBlock,
    RetryBlock,
    TextBlock,
    ToolBlock,
    UiState,
    UserBlock,
)
from tests.support import story
from tests.support.fake_tasks import TASKS


def after(*parts: Event | Iterable[Event], now: float = 10.0, state: UiState | None = None) -> UiState:
    events: list[Event] = []
    for part in parts:
        events += part if isinstance(part, list | tuple) else [part]  # type: ignore[list-item]
    return apply_all(state or UiState(), events, now)


def text(words: str, *, turn: int = 1, step: int = 1) -> TextDelta:
    return TextDelta(turn=turn, step=step, text=words)


def error(turn: int = 1) -> TurnError:
    return TurnError(turn=turn, attempt=1, reason="auth", detail="the key was refused", seconds=1.0)


def restart(turn: int = 1, step: int = 1) -> StepRestarted:
    return StepRestarted(turn=turn, step=step)


def retry_in(delay: float, step: int = 1) -> RetryScheduled:
    return RetryScheduled(
        turn=1, step=step, attempt=2, max_attempts=4, delay=delay, reason="cut", detail="connection lost"
    )


def test_deltas_of_a_step_grow_one_block() -> None:
    state = after(story.started(1, "hi"), text("Hel"), text("lo"))
    assert state.live == (UserBlock(turn=1, text="hi"), TextBlock(turn=1, step=1, text="Hello"))
    assert state.phase == "answering"


def test_reasoning_and_text_are_blocks_of_their_own() -> None:
    thought = ReasoningDelta(turn=1, step=1, text="hm", seconds=2.0)
    state = after(story.started(1, "hi"), thought, text("Hello"))
    assert [type(block) for block in state.live] == [UserBlock, ReasoningBlock, TextBlock]


def test_a_new_turn_moves_the_one_before_into_the_past() -> None:
    first = after(story.started(1, "one"), text("done"), story.done(1))
    second = after(story.started(2, "two"), state=first)
    assert second.past == first.live
    assert second.live == (UserBlock(turn=2, text="two"),)


def test_a_delta_leaves_the_past_as_it_is() -> None:
    before = after(story.three_turns(), story.started(4, "go"))
    assert after(text("x", turn=4), state=before).past is before.past


def test_a_tool_call_runs_shows_its_output_and_ends_with_its_result() -> None:
    output = ToolOutput(turn=1, id="c", text="1 passed\n", lines=1, bytes=9)
    running = after(story.started(1, "go"), story.tool_started(1, "c", "bash", "pytest"), output, now=3.0)
    block = running.live[-1]
    assert isinstance(block, ToolBlock)
    assert (block.status, block.tail, block.lines, block.started_at) == ("running", "1 passed\n", 1, 3.0)
    result = ToolResult(text="ok", exit_code=0)
    ended = after(story.tool_finished(1, "c", "bash", "pytest", result), state=running).live[-1]
    assert isinstance(ended, ToolBlock)
    assert (ended.status, ended.tail, ended.result) == ("done", "", result)


def test_a_call_shows_what_became_of_it() -> None:
    results = {
        "failed": ToolResult(text="", exit_code=2),
        "denied": ToolResult(text="", denied=True, is_error=True),
        "stopped": ToolResult(text="", interrupted=True, is_error=True),
        "not_run": ToolResult(text="", interrupted=True, is_error=True, ran=False),
    }
    for status, result in results.items():
        block = after(story.started(1, "go"), story.tool(1, "c", "bash", "x", result)).live[-1]
        assert isinstance(block, ToolBlock)
        assert block.status == status


def test_the_memory_of_the_running_turn_fills_live() -> None:
    state = after(
        story.started(1, "go"), story.edit(1, "a"), story.edit(1, "b"), story.failing_bash(1, "c", "make")
    )
    memory = state.turns[-1].memory
    assert memory.files_changed == ("src/cart.py",)
    assert [failed.command for failed in memory.failed_bash] == ["make"]
    assert state.turns[-1].calls == 3


def test_what_a_cut_reply_said_stands_until_the_next_reply_begins() -> None:
    begun = after(story.started(1, "go"), text("kept"), story.read(1, "a", "x.py", 3), text("cut", step=2))
    cut = after(restart(step=2), retry_in(4.0), state=begun)
    assert [type(block) for block in cut.live] == [UserBlock, TextBlock, ToolBlock, TextBlock, RetryBlock]
    block = cut.live[3]
    assert isinstance(block, TextBlock)
    assert (block.text, block.open, block.lost) == ("cut", False, True)
    again = after(text("new", step=2), state=cut)
    assert [block.text for block in again.live if isinstance(block, TextBlock)] == ["kept", "new"]
    done = after(story.done(1), state=again)
    assert isinstance(done.live[-1], EndBlock)
    assert (done.live[-1].lost_words, done.live[-1].gone_words) == (0, 0)


def test_the_words_of_all_cut_replies_are_counted() -> None:
    cut = after(story.started(1, "go"), text("one two"), restart(), text("three"), restart(), restart())
    ended = after(story.incomplete(1), state=cut)
    assert [block.text for block in ended.live if isinstance(block, TextBlock)] == ["three"]
    end = ended.live[-1]
    assert isinstance(end, EndBlock)
    assert (end.lost_words, end.gone_words) == (3, 2)
    retried = after(replace(story.started(1, "go"), text=None, attempt=2), text("four"), state=ended)
    assert [block.text for block in retried.live if isinstance(block, TextBlock)] == ["three", "four"]
    again = after(story.incomplete(1), state=retried).live[-1]
    assert isinstance(again, EndBlock)
    assert (again.lost_words, again.gone_words) == (1, 0)


def test_the_retry_row_stands_until_the_first_sign_of_life() -> None:
    waiting = after(story.started(1, "go"), retry_in(4.0), now=100.0)
    row = waiting.live[-1]
    assert isinstance(row, RetryBlock)
    assert row.due == 104.0
    assert waiting.phase == "retrying"
    alive = after(text("here"), state=waiting)
    assert not any(isinstance(block, RetryBlock) for block in alive.live)


def test_done_closes_its_text_and_settles_the_row() -> None:
    memory = TurnMemory(files_changed=("a.py",))
    state = after(story.started(1, "go"), text("Ready."), story.done(1, memory=memory, calls=1, carried=87))
    assert isinstance(state.live[-2], TextBlock)
    assert not state.live[-2].open
    assert not state.live[-2].lost
    row = state.turns[-1]
    assert (row.status, row.carried_bytes, row.memory) == ("done", 87, memory)
    assert not state.running


def test_an_incomplete_end_marks_the_cut_words_as_lost_and_counts_them() -> None:
    state = after(story.started(1, "go"), story.edit(1, "a"), text("so a cart"), story.incomplete(1))
    cut, end = state.live[-2:]
    assert isinstance(cut, TextBlock)
    assert cut.lost
    assert isinstance(end, EndBlock)
    assert end.lost_words == 3
    assert state.pending == end.end == story.incomplete(1)
    assert state.turns[-1].status == "pending"


def test_text_of_whole_steps_is_not_lost() -> None:
    state = after(
        story.started(1, "go"), text("kept"), story.edit(1, "a"), text("cut", step=2), story.incomplete(1)
    )
    kept = state.live[1]
    assert isinstance(kept, TextBlock)
    assert not kept.lost


def test_retry_folds_the_end_and_goes_on_in_the_same_turn() -> None:
    cut = after(story.started(1, "go"), story.edit(1, "a"), story.incomplete(1))
    state = after(story.started(1, None, attempt=2, recovering=4), state=cut)
    end = next(block for block in state.live if isinstance(block, EndBlock))
    assert end.settled == "retried"
    assert (len(state.turns), state.turns[-1].status, state.turns[-1].attempt) == (1, "running", 2)
    assert state.recovering == 4


def test_recovery_clears_the_pending_state() -> None:
    cut = after(story.started(1, "go"), story.edit(1, "a"), story.incomplete(1))
    state = after(story.started(1, None, attempt=2, recovering=4), story.done(1, attempt=2), state=cut)
    assert state.pending is None
    assert state.recovering == 0
    assert state.turns[-1].status == "done"


def test_a_retry_that_is_cut_again_stays_pending() -> None:
    cut = after(story.started(1, "go"), story.edit(1, "a"), story.incomplete(1))
    again = story.incomplete(1, calls=5, attempt=2)
    state = after(story.started(1, None, attempt=2, recovering=4), again, state=cut)
    assert state.pending is again
    assert state.turns[-1].status == "pending"
    ends = [block for block in state.live if isinstance(block, EndBlock)]
    assert [end.settled for end in ends] == ["retried", ""]


def test_a_message_after_an_incomplete_turn_settles_both_when_it_is_done() -> None:
    cut = after(story.started(1, "go"), story.edit(1, "a"), story.incomplete(1))
    state = after(story.started(2, "and then"), story.done(2), state=cut)
    assert [row.status for row in state.turns] == ["done", "done"]
    assert state.pending is None
    assert [block.settled for block in state.past if isinstance(block, EndBlock)] == ["went on"]


def test_abandoned_work_stays_in_the_memory_of_its_turn() -> None:
    cut = after(story.started(1, "go"), story.edit(1, "a"), story.incomplete(1))
    memory = TurnMemory(files_changed=("src/cart.py",))
    event = TurnAbandoned(turn=1, turn_memory=memory, carried_bytes=80, trace_bytes=18_200)
    state = after(event, state=cut)
    assert state.pending is None
    assert (state.turns[-1].status, state.turns[-1].facts) == (
        "abandoned",
        (FileChanged(path="src/cart.py"),),
    )
    end = state.live[-1]
    assert isinstance(end, EndBlock)
    assert end.settled == "abandoned"


def test_a_failed_turn_keeps_its_end_for_the_two_keys() -> None:
    state = after(story.started(1, "go"), error())
    assert state.failed is not None
    assert state.turns[-1].status == "failed"
    assert after(story.started(1, None, attempt=2), state=state).failed is None


def test_a_message_taken_back_leaves_the_screen() -> None:
    state = after(story.started(1, "one"), story.done(1), story.started(2, "two"), error(2))
    state = after(MessageTakenBack(turn=2, text="two"), state=state)
    assert state.taken_back == "two"
    assert state.failed is None
    assert [row.turn for row in state.turns] == [1]
    assert not any(isinstance(block, UserBlock) and block.turn == 2 for block in (*state.past, *state.live))


def test_an_approval_waits_until_it_is_answered() -> None:
    asked = after(
        story.started(1, "go"), story.tool_started(1, "c", "edit_file", "a"), story.approval(1, "c")
    )
    block = asked.live[-1]
    assert isinstance(block, ToolBlock)
    assert (block.status, asked.phase) == ("asks", "asking")
    answer = ApprovalAnswered(turn=1, id="c", allowed=True, for_session=False, message="", by="user")
    answered = apply(asked, answer, 50.0)
    block = answered.live[-1]
    assert isinstance(block, ToolBlock)
    assert answered.approval is None
    assert (block.status, block.started_at) == ("running", 50.0)


def test_a_call_that_ends_leaves_the_others_running_or_asking() -> None:
    ends = story.tool_finished(1, "a", "grep_files", "x", ToolResult(text="found", summary="1 match"))
    begun = after(
        story.started(1, "go"),
        story.tool_started(1, "a", "grep_files", "x"),
        story.tool_started(1, "b", "mcp", "y"),
    )
    assert after(ends, state=begun).phase == "tool"
    asked = after(story.approval(1, "b"), state=begun)
    assert after(ends, state=asked).phase == "asking"
    assert after(story.tool_started(1, "c", "grep_files", "z"), state=asked).phase == "asking"
    also_ends = story.tool_finished(1, "b", "mcp", "y", ToolResult(text="", summary="done"))
    ended = after(ends, also_ends, state=begun)
    assert ended.phase == "waiting"


def test_an_end_closes_an_open_approval() -> None:
    asked = after(
        story.started(1, "go"), story.tool_started(1, "c", "edit_file", "a"), story.approval(1, "c")
    )
    assert after(error(), state=asked).approval is None


def test_a_call_knows_the_hosts_that_its_command_reached() -> None:
    begun = (
        story.started(1, "go"),
        story.tool_started(1, "c", "bash", "x"),
        story.tool_started(1, "d", "bash", "y"),
    )
    contact = HostContacted(turn=1, id="c", host="a.example")
    first, second = (block for block in after(*begun, contact).live if isinstance(block, ToolBlock))
    assert (first.contacts, second.contacts) == ((contact,), ())


def test_queue_and_mode_are_what_the_session_says() -> None:
    state = after(QueueChanged(texts=("a", "b")), ModeChanged(mode="plan"))
    assert (state.queue, state.mode) == (("a", "b"), "plan")


def test_why_there_is_no_sandbox_is_said_once_and_what_there_is_outlasts_the_session() -> None:
    none = SandboxFound(name="", reason="No sandbox: bubblewrap is not installed.")
    state = after(none, SessionOpened(id="b"))
    assert after(none).notice == none.reason
    assert (state.sandbox, state.notice) == (none, "")
    assert after(Notice(turn=0, text="x"), SandboxFound(name="landlock")).notice == "x"


def test_a_notice_of_a_turn_stands_in_the_transcript_and_others_above_the_composer() -> None:
    state = after(story.started(1, "go"), Notice(turn=1, text="cut short"), Notice(turn=0, text="refused"))
    assert isinstance(state.live[-1], NoticeBlock)
    assert state.notice == "refused"


def test_a_notice_behind_a_turn_that_waits_stands_before_its_end() -> None:
    state = after(story.started(1, "go"), story.incomplete(1), Notice(turn=1, text="t1 ended"))
    assert isinstance(state.live[-1], EndBlock)
    assert isinstance(state.live[-2], NoticeBlock)


def test_what_runs_in_the_background_goes_on_in_another_session() -> None:
    state = after(BackgroundChanged(tasks=TASKS), SessionOpened(id="b"))
    assert state.tasks == TASKS


def test_usage_adds_up_and_says_nothing_about_the_next_request() -> None:
    first = Usage(turn=1, step=1, tokens=TokenUsage(input_tokens=100, output_tokens=10))
    second = Usage(turn=1, step=2, tokens=TokenUsage(input_tokens=150, output_tokens=20))
    unknown = Usage(turn=1, step=3, tokens=TokenUsage())
    state = after(ContextMeasured(tokens=40), first, second, unknown)
    spent = state.spent
    assert (state.context_tokens, spent.input_tokens, spent.output_tokens) == (40, 250, 30)
    assert after(ContextMeasured(tokens=None), state=state).context_tokens is None


def test_the_cost_adds_up_by_turn_and_is_unknown_once_a_part_is() -> None:
    def used(turn: int, cost: float | None) -> Usage:
        tokens = TokenUsage(input_tokens=100, output_tokens=10, cached_tokens=60)
        return Usage(turn=turn, step=1, tokens=tokens, cost=cost)

    state = after(story.started(1, "a"), used(1, 0.5), used(1, 0.25), story.done(1))
    end = state.live[-1]
    assert isinstance(end, EndBlock) and end.cost == 0.75
    assert (state.spent.cost, state.spent.cached_tokens, state.turns[0].spent.cost) == (0.75, 120, 0.75)
    state = after(story.started(2, "b"), used(2, None), used(2, 1.0), story.done(2), state=state)
    end = state.live[-1]
    assert isinstance(end, EndBlock) and end.cost is None
    assert state.spent.cost is None
    assert state.turns[0].spent.cost == 0.75


def test_every_event_of_a_running_turn_is_a_sign_of_life() -> None:
    state = after(story.started(1, "go"), now=5.0)
    assert state.last_word_at == 5.0
    state = after(text("a"), state=state, now=8.0)
    assert state.last_word_at == 8.0


def test_what_the_user_does_meanwhile_is_no_sign_of_life() -> None:
    state = after(story.started(1, "go"), text("a"), now=5.0)
    for event in (QueueChanged(texts=("x",)), ModeChanged(mode="plan")):
        silent = after(event, state=state, now=9.0)
        assert (silent.last_word_at, silent.phase_since) == (5.0, 5.0)


def test_the_clock_of_a_phase_starts_when_the_phase_does() -> None:
    state = after(story.started(1, "go"), now=5.0)
    assert after(text("a"), state=state, now=8.0).phase_since == 8.0
    assert (
        after(text("a"), text("b"), state=after(text("a"), state=state, now=8.0), now=9.0).phase_since == 8.0
    )


def test_a_summary_that_is_tried_again_is_one_block_and_its_wait_is_shown() -> None:
    start = CompactionStarted(turns=1)
    state = after(start, CompactionDelta(text="cut of"), retry_in(2.0))
    assert (state.phase, len(state.live)) == ("retrying", 2)
    again = after(start, CompactionDelta(text="Whole"), state=state)
    assert again.live == (CompactionBlock(turn=0, start=start, text="Whole"),)
    assert again.phase == "compacting"
    failed = CompactionFailed(reason="interrupted", detail="You stopped it.")
    stopped = after(failed, state=state)
    assert stopped.live == (CompactionBlock(turn=0, start=start, text="cut of", end=failed),)
    assert stopped.phase == "idle"


def test_the_clock_of_a_turn_stands_still_while_it_asks_and_never_goes_back() -> None:
    call = story.tool_started(1, "b", "bash", "make")
    asked = after(story.approval(1, "b"), now=12.0, state=after(story.started(1, "go"), call))
    assert asked.turn_seconds(500.0) == 2.0
    answer = ApprovalAnswered(turn=1, id="b", allowed=True, for_session=False, message="", by="user")
    going = after(answer, now=500.0, state=asked)
    assert going.turn_seconds(503.0) == 5.0
    failed = TurnError(turn=1, attempt=1, reason="network", detail="No.", seconds=6.0)
    over = after(failed, now=504.0, state=going)
    again = after(story.started(1, None, attempt=2), now=600.0, state=over)
    assert (over.turn_seconds(599.0), again.turn_seconds(601.0)) == (6.0, 7.0)
