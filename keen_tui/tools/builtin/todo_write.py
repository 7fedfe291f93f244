"""todo_write: the model's own to-do list, for the person to follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from keen_tui.domain.display import TodoDisplay, TodoItem, TodoStatus
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.sanitize import clean
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.calls.arguments import checked, converted
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.process.bounded_output import OutputSink

_MOST_ITEMS = 50
_LONGEST_TEXT = 300


class TodoList:
    """The list of a session. It stays from turn to turn; opening a session brings its own list."""

    def __init__(self) -> None:
        self.items: tuple[TodoItem, ...] = ()


class _Item(Struct, frozen=True):
    text: str
    status: TodoStatus = "pending"


class TodoWrite:
    """Replaces the whole list, or returns the current one."""

    spec = ToolSpec(
        name="todo_write",
        description=(
            "Keep a to-do list, which the user sees beside your work. Use it for tasks of three steps or "
            "more. Send the whole list each time a step begins or is done; at most one item may be "
            "in_progress. Without items it returns the current list, also from earlier turns."
        ),
        parameters={
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "description": "The whole list, in working order. Leave it out to read the list.",
                    "maxItems": _MOST_ITEMS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string", "description": "The step, in a few words."},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "done"]},
                        },
                        "required": ["text", "status"],
                    },
                },
            },
            "required": [],
        },
    )
    only_reads = False

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    def target(self, arguments: Mapping[str, Any]) -> str:
        """The item in progress, else the next one."""
        items = arguments.get("items")
        if items is None:
            return "read"
        given = [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
        for status in ("in_progress", "pending"):
            for item in given:
                if item.get("status") == status and isinstance(item.get("text"), str):
                    return clean(item["text"][:_LONGEST_TEXT])
        return "all done" if given else ""

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        items = _items(given["items"]) if "items" in given else None

        async def run(_: OutputSink) -> ToolResult:
            if items is not None:
                self._todos.items = items
            shown = TodoDisplay(items=self._todos.items)
            text = f"The list is saved: {shown.progress}." if items else shown.as_text or "The list is empty."
            return ToolResult(text=text, summary=shown.progress, display=shown)

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)


def _items(given: Sequence[object]) -> tuple[TodoItem, ...]:
    if len(given) > _MOST_ITEMS:
        raise ToolFailure(f"items must be at most {_MOST_ITEMS}.")
    items = tuple(
        TodoItem(text=clean(item.text).strip()[:_LONGEST_TEXT], status=item.status)
        for item in converted("todo_write", "items", given, list[_Item])
    )
    if not all(item.text for item in items):
        raise ToolFailure("each item needs a text.")
    if sum(item.status == "in_progress" for item in items) > 1:
        raise ToolFailure("only one item can be in_progress.")
    return items
