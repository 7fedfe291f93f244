"""Searches of OpenAI's own web search in replies. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keen_tui.domain.messages import WebSource
from keen_tui.providers.wire.json_fields import object_of, objects_of, text_of
from keen_tui.providers.wire.provider import StepSearch
from keen_tui.providers.wire.wire_text import mended

CALL: Final = "web_search_call"
"""The type of an item that says what was searched, opened or looked for in a page."""


def search_of(item: Mapping[str, Any]) -> StepSearch:
    """A search, or a page that was opened, by its finished item."""
    action = object_of(item.get("action"))
    url = mended(text_of(action.get("url")))
    queries = action.get("queries")
    several = [text for text in queries if isinstance(text, str)] if isinstance(queries, list) else []
    match action.get("type"):
        case "open_page":
            query = url
        case "find_in_page":
            query = f"{mended(text_of(action.get('pattern')))} in {url}"
        case _:
            query = mended("; ".join(several) or text_of(action.get("query")))
    found = (mended(text_of(each.get("url"))) for each in objects_of(action.get("sources")))
    status = text_of(item.get("status"))
    problem = status if status in ("failed", "incomplete") else ""
    return StepSearch(query, tuple(WebSource(url=each) for each in found if each), problem)
