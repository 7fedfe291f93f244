"""Values that are kept compressed: the same come back, and they take less memory."""

from __future__ import annotations

import pickle
from pathlib import Path

from msgspec.structs import replace

from keen_tui.domain.events import TextDelta, ToolFinished
from keen_tui.domain.messages import ToolCall, ToolResult, ToolStep
from keen_tui.memory.conversation import Conversation, conversation_of
from keen_tui.text.packed import Packed, packed, unpacked
from tests.support import story

SOURCE = Path(story.__file__).read_text(encoding="utf-8")


def test_a_long_value_comes_back_as_it_was() -> None:
    for text in (SOURCE, "x" * 100_000, "\udc80 invalid \x00 " * 200, "日本語" * 1_000):
        value = (ToolCall(id="c", name="read_file", arguments={"path": "a", "n": 1}), ToolResult(text=text))
        kept = packed(value)
        assert isinstance(kept, Packed)
        assert kept.value == value
        assert unpacked(packed(value)) == value


def test_a_short_value_stays_itself() -> None:
    value = ToolResult(text="short")
    assert packed(value) is value
    assert unpacked(packed(value)) is value


def test_what_is_nested_too_deeply_to_be_packed_stays_itself() -> None:
    nested: list[object] = []
    for _ in range(3_000):
        nested = [nested]
    value = ToolCall(id="c", name="read_file", arguments={"path": nested})
    assert packed(value) is value


def test_only_new_results_are_packed() -> None:
    event = _finished("c", ToolResult(text=SOURCE), step=1)
    past = conversation_of([event])
    assert past.past.steps[1][0].calls[0][1] is event.result
    past.take(_finished("d", event.result, step=2))
    new = past.past.steps[1][1].calls[0][1]
    assert new == event.result
    assert new is not event.result


def test_source_code_takes_half_of_its_size_at_most() -> None:
    kept = packed(SOURCE)
    assert isinstance(kept, Packed)
    assert len(pickle.dumps(kept)) < len(SOURCE) / 2


def test_the_steps_of_a_conversation_are_those_that_were_made() -> None:
    conversation = Conversation()
    results = [ToolResult(text=text) for text in ("short", SOURCE, "another", SOURCE * 2)]
    conversation.take(TextDelta(turn=1, step=1, text="I look."))
    for place, result in enumerate(results):
        conversation.take(_finished(f"c{place}", result, step=1 + place // 3))
    before = conversation.past
    conversation.take(_finished("late", results[1], step=2))
    assert before.steps[1] == (
        ToolStep(text="I look.", calls=tuple((_call(f"c{at}"), results[at]) for at in range(3))),
        ToolStep(text="", calls=((_call("c3"), results[3]),)),
    )
    assert len(conversation.past.steps[1][1].calls) == 2
    assert (dict(before.steps), 2 in before.steps) == ({1: before.steps[1]}, False)


def _finished(id: str, result: ToolResult, step: int) -> ToolFinished:
    return replace(story.tool_finished(1, id, "read_file", "a", result), step=step)


def _call(id: str) -> ToolCall:
    return ToolCall(id=id, name="read_file", arguments={})
