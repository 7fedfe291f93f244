"""What the scripted model of the tour answers to messages that nobody planned."""

from __future__ import annotations

from typing import Any

from keen_tui.demo.script import RecordedRequest, Reply, Say
from keen_tui.demo.tour import FIRST_PROMPT, SECOND_PROMPT, TourModel

FIRST_STEP: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a coding agent."},
    {"role": "user", "content": FIRST_PROMPT},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "bash", "arguments": '{"command": "pytest"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "1 failed\n[exit code 1]"},
]


def answered(*messages: dict[str, Any]) -> str:
    """The words of the answer to these messages."""
    body = {"messages": list(messages)}
    request = RecordedRequest(path="/v1/chat/completions", headers={}, body=body, raw=b"{}")
    reply = TourModel(0, "pytest")(request)
    assert isinstance(reply, Reply)
    return "".join(part.text for part in reply.parts if isinstance(part, Say))


def test_words_that_are_handed_in_do_not_end_the_task() -> None:
    one, two = {"role": "user", "content": "mind the tax"}, {"role": "user", "content": "and the discount"}
    said = answered(*FIRST_STEP, one, two)
    assert "I have what you just wrote" in said
    assert "Found it." in said


def test_a_new_message_is_answered_for_itself() -> None:
    reply = {"role": "assistant", "content": "All tests pass."}
    assert "know only two messages" in answered(*FIRST_STEP, reply, {"role": "user", "content": "hello"})
    assert "know only two messages" in answered(FIRST_STEP[0], {"role": "user", "content": "hello"})
    again = {"role": "user", "content": SECOND_PROMPT}
    assert "Your request reached me" in answered(*FIRST_STEP, again)
