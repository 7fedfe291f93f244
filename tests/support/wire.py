"""Validators of requests: docs/turn.md, "What each API demands"."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from keen_tui.demo.script import RecordedRequest


def assert_valid(requests: Sequence[RecordedRequest]) -> None:
    """Assert that every request is valid for its API."""
    for request in requests:
        VALIDATORS[request.path](request.body)


def assert_valid_name(name: str) -> None:
    """Assert that all three APIs accept the name: its characters and its length."""
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", name), f"no name of a tool: {name!r}"


def assert_valid_chat(body: Mapping[str, Any]) -> None:
    """Every tool call has exactly one result, right after it; arguments are JSON; no assistant message is
    empty."""
    waiting: list[str] = []
    seen: set[str] = set()
    previous = ""
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
            previous = role
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
                assert_valid_name(call["function"]["name"])
    assert not waiting, f"calls without a result: {waiting}"


def assert_valid_responses(body: Mapping[str, Any]) -> None:
    """Every call has exactly one output before any other message; reasoning comes before the item that it led
    to; nothing is stored; no assistant message is empty."""
    assert body["store"] is False
    waiting: list[str] = []
    seen: set[str] = set()
    previous = ""
    for item in body["input"]:
        kind = item.get("role") or item["type"]
        assert previous != "reasoning" or kind in (
            "reasoning",
            "assistant",
            "function_call",
            "web_search_call",
        ), "lone reasoning"
        assert not (kind == previous == "user"), "two user messages in a row"
        previous = kind
        if kind == "function_call":
            assert item["call_id"] and item["call_id"] not in seen, "an id used twice"
            assert isinstance(json.loads(item["arguments"]), dict)
            assert_valid_name(item["name"])
            seen.add(item["call_id"])
            waiting.append(item["call_id"])
        elif kind == "function_call_output":
            assert item["call_id"] in waiting, "a result without its call"
            waiting.remove(item["call_id"])
        elif kind in ("user", "assistant"):
            assert not waiting or kind == "assistant", f"calls without a result: {waiting}"
            assert _content_text(item).strip() or kind == "user", "a blank assistant message"
    assert not waiting, f"calls without a result: {waiting}"
    assert previous != "reasoning", "reasoning that leads to nothing"


def _content_text(item: Mapping[str, Any]) -> str:
    content = item["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or part.get("refusal") or "" for part in content)


def assert_valid_anthropic(body: Mapping[str, Any]) -> None:
    """Roles alternate; results come first and at once; thinking is signed; no text is empty."""
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], f"roles do not alternate: {roles}"
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        content = message["content"]
        assert content, "a message without content"
        for block in content:
            assert block["type"] != "text" or block["text"].strip(), "a blank text"
            assert block["type"] != "thinking" or block["signature"], "thinking without its signature"
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        assert [block["type"] for block in content[: len(results)]] == ["tool_result"] * len(results)
        assert sorted(results) == sorted(waiting), f"results {results} for calls {waiting}"
        calls = [block for block in content if block["type"] == "tool_use"]
        assert message["role"] == "assistant" or not calls
        waiting = [call["id"] for call in calls]
        assert len(set(waiting)) == len(waiting) and not seen & set(waiting), "an id used twice"
        seen |= set(waiting)
        for call in calls:
            assert isinstance(call["input"], dict)
            assert_valid_name(call["name"])
        assert content[-1]["type"] not in ("thinking", "redacted_thinking"), "thinking that led to nothing"
    assert json.dumps(body).count('"cache_control"') <= 4
    assert body["max_tokens"] > body.get("thinking", {}).get("budget_tokens", 0)


VALIDATORS: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
    "/v1/messages": assert_valid_anthropic,
    "/v1/chat/completions": assert_valid_chat,
    "/v1/responses": assert_valid_responses,
}
"""The validator of one request body, by request path."""
