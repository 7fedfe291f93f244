"""What the scripted model of the tour answers to messages that nobody planned."""

from __future__ import annotations

from typing import Any

from keen_tui.demo.guide import Guide
from keen_tui.demo.plain import PlainGuide
from keen_tui.demo.script import RecordedRequest, Reply, Say
from keen_tui.demo.tour import FIRST_PROMPT, SECOND_PROMPT, TourModel
from tests.support import story

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


def test_it_ends_with_the_choice_of_a_model() -> None:
    on_screen, line_by_line, without_a_person = Guide(last_prompt="/model"), PlainGuide(), Guide()
    said = [guide.words(story.done(2)) or "" for guide in (on_screen, line_by_line, without_a_person)]
    assert "Press enter to choose a model of your own" in said[0]
    assert on_screen.next_prompt == "/model"
    assert "start keen-tui --plain, and choose the model with /model" in said[1]
    assert "start it without --demo" in said[2]
    assert line_by_line.next_prompt == without_a_person.next_prompt == ""


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
