"""Searches of Anthropic's own web search in replies. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from keen_tui.domain.messages import WebSource
from keen_tui.memory.projection import NativeTrace, Part
from keen_tui.providers.wire.json_fields import object_of, objects_of, text_of
from keen_tui.providers.wire.provider import StepSearch
from keen_tui.providers.wire.wire_text import mended

RESULT: Final = "web_search_tool_result"
"""The type of a block with the results of a search."""


def query_of(block: Mapping[str, Any]) -> str:
    """Returns the query in a call of the server's own search tool, "" for none."""
    return mended(text_of(object_of(block.get("input")).get("query")))


def open_searches(parts: Iterable[Part]) -> dict[str, str]:
    """The searches by id in the newest reply of a request: if it was paused, or made other calls too, their
    results come with the next reply."""
    traces = [part.messages for part in parts if isinstance(part, NativeTrace) and part.messages]
    replies = [message for message in traces[-1] if message.get("role") == "assistant"] if traces else []
    return {
        text_of(block.get("id")): query_of(block)
        for block in objects_of(replies[-1].get("content") if replies else None)
        if block.get("type") == "server_tool_use"
    }


def search_of(result: Mapping[str, Any], query: str) -> StepSearch:
    """A search by the block with its results."""
    content = result.get("content")
    sources = tuple(
        WebSource(url=mended(text_of(each.get("url"))), title=mended(text_of(each.get("title"))))
        for each in objects_of(content)
        if each.get("url")
    )
    return StepSearch(query, sources, mended(text_of(object_of(content).get("error_code"))))
