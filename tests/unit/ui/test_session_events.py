"""The reducer: sessions that are opened, summaries, memory by hand, changes taken back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.events import (
    Compacted,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
    ContextMeasured,
    Event,
    MemoryEdited,
    MessageTakenBack,
    ModeChanged,
    ModelChanged,
    Notice,
    PolicyChanged,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    TextDelta,
    TurnError,
    TurnUndone,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.facts.note import Note
from keen_tui.domain.messages import TurnMemory
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import CompactionBlock, EndBlock, NoticeBlock, UiState, UserBlock
from tests.support import story

MODEL = ModelChanged(model="big", server="acme", effort="high", context_window=1_000)
MEMORY = TurnMemory(files_changed=("src/cart.py",))


def after(*events: Event, state: UiState | None = None) -> UiState:
    return apply_all(state or UiState(), events, 10.0)


def compacted(turn: int, summary: str = "All of it.") -> Compacted:
    return Compacted(
        turn=turn,
        turns=turn,
        summary=summary,
        turn_memory=MEMORY,
        bytes_before=66_100,
        bytes_after=700,
        seconds=3.0,
    )


def failed() -> CompactionFailed:
    return CompactionFailed(reason="cut", detail="The connection was lost.")


BUSY: list[Event] = [
    *story.three_turns(),
    *story.discount_turn(),
    story.incomplete(4),
    ModeChanged(mode="auto"),
    PolicyChanged(policy="in-band"),
    MODEL,
    Notice(turn=0, text="something"),
]


def test_an_opened_session_begins_empty_and_keeps_what_the_program_is_set_to() -> None:
    state = after(*BUSY, SessionOpened(id="s2", title="Cart"))
    assert state == UiState(mode="auto", policy="in-band", model=MODEL, session_id="s2", title="Cart")


def test_an_open_question_and_a_failed_turn_do_not_reach_the_next_session() -> None:
    error = TurnError(turn=1, attempt=1, reason="auth", detail="no", seconds=1.0)
    assert after(story.started(1, "hi"), error, SessionOpened(id="s2")).failed is None
    asking = after(story.started(1, "hi"), story.approval(1, "d4"), SessionOpened(id="s2"))
    assert (asking.approval, asking.phase) == (None, "idle")


def test_the_past_is_restored_until_it_says_so() -> None:
    opened = after(SessionOpened(id="s2", restoring=True), *story.three_turns())
    assert opened.restoring
    state = after(SessionRestored(), state=opened)
    assert not state.restoring
    assert state == replace(after(*story.three_turns()), session_id="s2")


def test_a_message_that_was_taken_back_long_ago_does_not_come_back_again() -> None:
    past: list[Event] = [story.started(1, "hi"), MessageTakenBack(turn=1, text="hi")]
    state = after(SessionOpened(id="s2", restoring=True), *past, SessionRestored())
    assert state.taken_back == ""
    assert not state.live and not state.turns


def test_notices_of_the_past_are_gone_and_what_could_not_be_read_is_told() -> None:
    past = [Notice(turn=0, text="The session can't be saved.")]
    opened = SessionOpened(id="s2", restoring=True)
    assert after(opened, *past, SessionRestored()).notice == ""
    assert after(opened, *past, SessionRestored(skipped="1 damaged place.")).notice == "1 damaged place."


def test_a_restored_incomplete_turn_waits_for_its_two_keys() -> None:
    past = [*story.discount_turn(1), story.incomplete(1)]
    state = after(SessionOpened(id="s2", restoring=True), *past, SessionRestored())
    assert state.pending == story.incomplete(1)
    assert state.phase == "idle"


def test_the_title_is_the_one_given_last() -> None:
    opened = SessionOpened(id="s2", title="Cart")
    assert after(opened, SessionRenamed(title="Tax"), SessionRenamed(title="Money")).title == "Money"


def test_a_summary_streams_and_becomes_what_came_whole() -> None:
    start = CompactionStarted(turns=3, focus="the tests")
    streaming = after(*story.three_turns(), start, CompactionDelta(text="So "), CompactionDelta(text="far"))
    assert streaming.live[-1] == CompactionBlock(turn=3, start=start, text="So far")
    assert streaming.phase == "compacting"
    end = compacted(3, "So far.")
    state = after(end, state=streaming)
    assert state.live[-1] == CompactionBlock(turn=3, start=start, text="So far.", end=end)
    assert state.phase == "idle"


def test_a_second_summary_stands_behind_the_first() -> None:
    start = CompactionStarted(turns=3)
    first, second = compacted(3, "First."), compacted(4, "Second.")
    state = after(*story.three_turns(), start, first, story.started(4, "more"), story.done(4), start, second)
    blocks = [block for block in (*state.past, *state.live) if isinstance(block, CompactionBlock)]
    assert [(block.turn, block.text, block.end) for block in blocks] == [
        (3, "First.", first),
        (4, "Second.", second),
    ]


def test_summarised_turns_carry_nothing_of_their_own_and_the_summary_counts() -> None:
    measured = ContextMeasured(tokens=9_600)
    before = after(*story.three_turns(), measured, story.started(4, "more"), story.done(4, carried=300))
    state = after(CompactionStarted(turns=3), compacted(3), state=before)
    assert [(row.summarised, row.carried_bytes) for row in state.turns] == [
        (True, 0),
        (True, 0),
        (True, 0),
        (False, 300),
    ]
    assert state.summary_bytes == 700
    assert (before.context_tokens, state.context_tokens) == (9_600, None)


def test_pending_work_stays_as_it_is_below_the_summary() -> None:
    pending = [*story.three_turns(), *story.discount_turn(), story.incomplete(4)]
    state = after(*pending, CompactionStarted(turns=3), compacted(3))
    *_, summary, end = state.live
    assert isinstance(summary, CompactionBlock)
    assert isinstance(end, EndBlock)
    assert not end.settled
    assert state.pending == story.incomplete(4)
    assert (state.turns[-1].status, state.turns[-1].summarised) == ("pending", False)
    assert state.phase == "idle"


@pytest.mark.parametrize("end", [compacted(3), failed()])
def test_a_turn_goes_on_behind_the_summary_that_made_room_for_it(end: Event) -> None:
    start = CompactionStarted(turns=3, automatic=True)
    running = after(*story.three_turns(), story.started(4, "more"), start)
    assert running.phase == "compacting"
    assert running.turn_running
    state = after(end, state=running)
    assert state.phase == "waiting"
    assert [type(block) for block in state.live] == [UserBlock, CompactionBlock]
    done = after(TextDelta(turn=4, step=1, text="Ok."), story.done(4), state=state)
    assert (done.phase, done.turns[-1].summarised) == ("idle", False)


def test_a_summary_that_failed_changes_nothing() -> None:
    before = after(*story.three_turns())
    state = after(CompactionStarted(turns=3), CompactionDelta(text="Half"), failed(), state=before)
    assert (state.turns, state.summary_bytes, state.phase) == (before.turns, 0, "idle")
    assert isinstance(state.live[-1], CompactionBlock)
    assert (state.live[-1].text, state.live[-1].end) == ("Half", failed())


def test_memory_edited_by_hand_is_that_of_its_turn_and_of_no_other() -> None:
    memory = TurnMemory(
        files_changed=("src/tax.py",),
        failed_bash=(CommandFailed(command="make", exit_code=2),),
        notes=("taxes are rounded last",),
    )
    before = after(*story.three_turns())
    state = after(MemoryEdited(turn=2, turn_memory=memory, carried_bytes=123), state=before)
    assert state.turns[1].memory == memory
    assert state.turns[1].facts == (
        FileChanged(path="src/tax.py"),
        CommandFailed(command="make", exit_code=2),
        Note("taxes are rounded last"),
    )
    assert state.turns[1].carried_bytes == 123
    assert (state.turns[0], state.turns[2]) == (before.turns[0], before.turns[2])
    assert state.live == before.live


def test_memory_of_a_turn_that_is_not_there_changes_nothing() -> None:
    before = after(*story.three_turns())
    assert after(MemoryEdited(turn=9, turn_memory=MEMORY, carried_bytes=1), state=before) == before


@pytest.mark.parametrize(("files", "words"), [(("a.py",), "1 file."), (("a.py", "b.py"), "2 files.")])
def test_changes_taken_back_stand_in_the_transcript(files: tuple[str, ...], words: str) -> None:
    before = after(*story.three_turns())
    state = after(TurnUndone(turn=3, undone=2, files=files), state=before)
    assert state.live[-1] == NoticeBlock(turn=3, text=f"Changes of turn 2 undone: {words}")
    assert (state.turns, state.phase) == (before.turns, "idle")


def test_the_policy_is_what_the_session_says() -> None:
    before = after(*story.three_turns())
    assert after(PolicyChanged(policy="full-trace"), state=before) == replace(before, policy="full-trace")
