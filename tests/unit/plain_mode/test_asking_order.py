"""All questions that could lose work have their answers in one order, here as on the screen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from keen_tui.frontends.line import asking
from keen_tui.frontends.line.questions import LineChoice as PlainChoice
from keen_tui.frontends.shared.questions import LeaveQuestion
from keen_tui.frontends.tui.questions import confirm
from keen_tui.frontends.tui.questions.question import Choice
from keen_tui.memory.pending import PendingState

PENDING = PendingState()
LAST = {"discard", "leave", "switch", "replace"}


@pytest.mark.parametrize(
    "choices",
    [
        asking.discard_question(PENDING).choices,
        asking.leave_question(LeaveQuestion(PENDING, running=False, durable=False)).choices,
        asking.leave_question(LeaveQuestion(None, running=True, durable=False)).choices,
        asking.replace_question(PENDING, "Begin a new session?", running=False).choices,
        asking.replace_question(PENDING, "Begin a new session?", running=True).choices,
        confirm.discard_question(PENDING).choices,
        confirm.leave_question(LeaveQuestion(PENDING, running=False, durable=False)).choices,
        confirm.leave_question(LeaveQuestion(None, running=True, durable=False)).choices,
        confirm.switch_question(PENDING, "another").choices,
        confirm.replace_question(PENDING, "Begin a new session?", running=False).choices,
        confirm.replace_question(PENDING, "Begin a new session?", running=True).choices,
    ],
)
def test_the_first_keeps_everything_then_comes_retry_and_last_what_was_asked_for(
    choices: Sequence[Choice | PlainChoice],
) -> None:
    first, *between, last = [choice.id for choice in choices]
    assert first == "keep"
    assert between in ([], ["retry"])
    assert last in LAST
