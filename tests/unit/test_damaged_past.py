"""A session file may have lost any of its lines: whatever is left of a past can be gone on with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import (
    Compacted,
    CompactionStarted,
    Event,
    MemoryEdited,
    MessageTakenBack,
    ShellFinished,
    ShellStarted,
    StepRestarted,
    TextDelta,
    TurnAbandoned,
    TurnError,
    TurnUndone,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.domain.reports import POLICIES
from keen_tui.memory.conversation import conversation_of
from keen_tui.memory.policies import policy_of
from keen_tui.memory.projection import Projector
from keen_tui.memory.unfinished import endings, unfinished
from tests.support.session_files import call, done, incomplete, started

NONE = TurnMemory()


def everything(turn: int) -> Iterator[Event]:
    """All that can happen to a turn."""
    yield started(turn)
    yield TextDelta(turn=turn, step=1, text="I look.")
    yield from call(turn, f"a{turn}", FileChanged(path="a"))
    yield from call(turn, f"b{turn}")
    yield StepRestarted(turn=turn, step=2)
    yield incomplete(turn)
    yield started(turn, None, attempt=2)
    yield TurnError(turn=turn, attempt=1, reason="cut", detail="Lost.", seconds=1.0)
    yield done(turn)
    yield TurnAbandoned(turn=turn, turn_memory=NONE, carried_bytes=0, trace_bytes=0)
    yield MessageTakenBack(turn=turn, text="hi")
    yield MemoryEdited(turn=turn, turn_memory=NONE, carried_bytes=0)
    yield TurnUndone(turn=turn, undone=turn, files=("a",))
    yield ShellStarted(turn=turn, id=f"s{turn}", command="ls")
    yield ShellFinished(turn=turn, id=f"s{turn}", command="ls", result=ToolResult(text="a"), seconds=1.0)
    yield CompactionStarted(turns=turn)
    yield Compacted(
        turn=turn, turns=turn, summary="So far.", turn_memory=NONE, bytes_before=9, bytes_after=1, seconds=1.0
    )


LIFE = [event for turn in (1, 2) for event in everything(turn)]


@pytest.mark.parametrize("policy", POLICIES)
@given(left=st.lists(st.sampled_from(LIFE), max_size=40))
def test_whatever_is_left_of_a_past_is_ended_and_sent(policy: PolicyName, left: list[Event]) -> None:
    state = unfinished(left)
    whole = [*left, *endings(state, None)]
    Projector().project(conversation_of(whole).past, (), policy_of(policy))
    assert not endings(unfinished(whole), None), "what was ended once is not ended again"
