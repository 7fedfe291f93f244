"""All questions that could lose work have their answers in one order."""

from __future__ import annotations

import pytest

from keen_tui.frontends.line.asking import question_of as line_question_of
from keen_tui.frontends.shared.questions import (
    ConfirmQuestion,
    DiscardQuestion,
    LeaveQuestion,
    ReplaceQuestion,
    SwitchQuestion,
)
from keen_tui.frontends.tui.questions.confirm import question_of as screen_question_of
from keen_tui.memory.pending import PendingState

PENDING = PendingState()
LAST = {"discard", "leave", "switch", "replace"}


@pytest.mark.parametrize(
    "question",
    [
        DiscardQuestion(PENDING),
        LeaveQuestion(PENDING, running=False, durable=False),
        LeaveQuestion(None, running=True, durable=False),
        LeaveQuestion(None, running=False, durable=False, tasks=("npm run dev",)),
        LeaveQuestion(PENDING, running=False, durable=False, tasks=("npm run dev",)),
        SwitchQuestion(PENDING, "another"),
        ReplaceQuestion(PENDING, "Begin a new session?", running=False),
        ReplaceQuestion(PENDING, "Begin a new session?", running=True),
    ],
)
def test_the_first_keeps_everything_then_comes_retry_and_last_what_was_asked_for(
    question: ConfirmQuestion,
) -> None:
    screen = screen_question_of(question)
    for drawn in (line_question_of(question), screen):
        first, *between, last = [choice.id for choice in drawn.choices]
        assert first == "keep"
        assert between in ([], ["retry"])
        assert last in LAST
    assert screen.preselected is None
