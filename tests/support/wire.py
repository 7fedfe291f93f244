"""A validator of Chat Completions requests: what the API demands of every request (turn.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from keen_tui.demo.script import RecordedRequest


def assert_valid_chat(requests: Sequence[RecordedRequest]) -> None:
    """Every tool call has exactly one result, right behind it; arguments are JSON; no blank assistant."""
    for request in requests:
        waiting: list[str] = []
        seen: set[str] = set()
        previous = ""
        for message in request.body["messages"]:
            role = message["role"]
            if role == "tool":
                assert message["tool_call_id"] in waiting, "a result without its call"
                waiting.remove(message["tool_call_id"])
                continue
            assert not waiting, f"calls without a result: {waiting}"
            assert not (role == previous == "user"), "two user messages in a row"
            previous = role
            if role == "assistant":
                calls = message.get("tool_calls") or []
                assert calls or (message.get("content") or "").strip(), "a blank assistant message"
                waiting = [call["id"] for call in calls]
                assert len(set(waiting)) == len(waiting) and not seen & set(waiting), "an id used twice"
                seen |= set(waiting)
                for call in calls:
                    assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert not waiting, f"calls without a result: {waiting}"
