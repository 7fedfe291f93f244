"""What hooks answer, with exit codes and with JSON, and how several answers become one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keen_tui.agent.hooks.answers import BadAnswer, HookAnswer, answer_of, joined, with_reason
from keen_tui.settings.added.hooks import HookPoint
from keen_tui.tools.process.hook_process import HookRun


def ended(code: int = 0, output: str = "", errors: str = "") -> HookRun:
    return HookRun(code=code, output=output, errors=errors)


def said(given: dict[str, Any]) -> HookAnswer:
    return answer_of("PreToolUse", ended(output=json.dumps(given)))


def test_exit_code_2_blocks_with_the_words_on_standard_error() -> None:
    answer = answer_of("PreToolUse", ended(2, output='{"decision": "allow"}', errors="no\n"))
    assert (answer.ruling, answer.blocks, answer.reason) == ("deny", True, "no")


@pytest.mark.parametrize("point", ["SessionStart", "UserPromptSubmit"])
def test_plain_output_is_context_at_the_start_and_for_a_message(point: HookPoint) -> None:
    assert answer_of(point, ended(output="on branch main\n")).context == "on branch main"


def test_plain_output_of_other_events_means_nothing() -> None:
    assert answer_of("PostToolUse", ended(output="formatted 1 file\n")) == HookAnswer()


@pytest.mark.parametrize(
    ("given", "ruling"),
    [
        ({"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ({"hookSpecificOutput": {"permissionDecision": "ask"}}, "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "deny"}}, "deny"),
        ({"hookSpecificOutput": {"decision": {"behavior": "deny"}}}, "deny"),
        ({"decision": "approve"}, "allow"),
        ({"decision": "block", "reason": "no"}, "deny"),
        ({"suppressOutput": True}, ""),
    ],
)
def test_words_for_a_ruling(given: dict[str, Any], ruling: str) -> None:
    assert said(given).ruling == ruling


@pytest.mark.parametrize(
    "output",
    [
        "{",
        '{"decision": "perhaps"}',
        '{"hookSpecificOutput": {"permissionDecision": 3}}',
        '{"hookSpecificOutput": {"updatedInput": []}}',
        '{"a":' * 100_000,
    ],
)
def test_an_answer_that_cannot_be_read_is_no_answer(output: str) -> None:
    with pytest.raises(BadAnswer):
        answer_of("PreToolUse", ended(output=output))


def test_words_from_a_hook_do_not_drive_the_terminal() -> None:
    answer = said(
        {
            "systemMessage": "\u001b]0;x\u0007hi\u202e",
            "reason": "\u001b[2Jno",
            "decision": "block",
            "hookSpecificOutput": {"additionalContext": "a\u0007b"},
        }
    )
    texts = (*answer.told, answer.reason, answer.context)
    assert not any("\u001b" in text or "\u0007" in text or "\u202e" in text for text in texts)


def test_the_strictest_of_several_answers_counts() -> None:
    allow = HookAnswer(ruling="allow", reason="fine", context="one")
    deny = HookAnswer(ruling="deny", reason="no", context="two")
    ask = HookAnswer(ruling="ask", reason="odd")
    for order in ((allow, deny, ask), (deny, ask, allow), (ask, allow, deny)):
        assert (joined(order).ruling, joined(order).reason) == ("deny", "no")
    assert joined((allow, deny)).context == "one\ntwo"
    assert joined(()) == HookAnswer()


def test_an_end_is_not_forgotten() -> None:
    assert joined((HookAnswer(), said({"continue": False, "stopReason": "enough"}))).ends == "enough"
    assert said({"continue": False}).ends == ""
    assert said({"continue": True}).ends is None


POINTS_WITHOUT_A_BLOCK: tuple[HookPoint, ...] = ("Setup", "SessionStart", "SubagentStart", "SessionEnd")


@pytest.mark.parametrize("point", POINTS_WITHOUT_A_BLOCK)
def test_where_nothing_can_be_blocked_a_block_is_none(point: HookPoint) -> None:
    given = {"decision": "block", "hookSpecificOutput": {"additionalContext": "x"}}
    answer = answer_of(point, ended(output=json.dumps(given)))
    assert (answer.blocks, answer.ruling, answer.context) == (False, "", "x")


def test_a_sentence_ends_with_the_reason_or_says_that_there_is_none() -> None:
    assert with_reason("A hook ended the turn", "enough") == "A hook ended the turn: enough"
    assert with_reason("A hook ended the turn", "") == "A hook ended the turn and gave no reason."
