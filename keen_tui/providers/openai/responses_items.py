"""The output items of a Responses reply: which event belongs to which item, and which items are sent back.

Events of one item have the same `output_index`. But some servers use one index for all items, or give an item
another id in every event. An item counts once its `output_item.done` has arrived: only that event contains
the whole item.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from keen_tui.domain.messages import NativeMessage, ToolCall
from keen_tui.providers.wire.arguments import UniqueIds, parse_arguments, sendable_name
from keen_tui.providers.wire.json_fields import object_of, objects_of, text_of
from keen_tui.providers.wire.wire_text import mended, mended_json

PartKey = tuple[str, int]
"""A part of an item: its type ("output_text", "refusal", "reasoning_text", "summary_text") and its
position."""


class OutputItem(Struct, eq=False):
    """One item while it streams. `done` is the final item from the server."""

    index: int
    id: str = ""
    type: str = ""
    done: Mapping[str, Any] | None = None
    arguments: list[str] = field(default_factory=list)
    texts: dict[PartKey, list[str]] = field(default_factory=dict)

    def add_arguments(self, piece: str, whole: str) -> None:
        """Add a streamed piece of the arguments, or replace all pieces by the whole text."""
        if whole:
            self.arguments = [whole]
        else:
            self.arguments.append(piece)

    def add_text(self, part: PartKey, piece: str) -> str:
        """Add a streamed piece of a part, and return it."""
        self.texts.setdefault(part, []).append(piece)
        return piece

    def rest_of(self, part: PartKey, whole: str) -> str:
        """The end of a part's whole text that hasn't been streamed."""
        streamed = "".join(self.texts.get(part, ()))
        return self.add_text(part, whole[len(streamed) :]) if whole.startswith(streamed) else ""

    def whole_texts(self) -> Iterator[tuple[PartKey, str]]:
        """The parts of the finished item."""
        for name in ("summary", "content"):
            for place, part in enumerate(objects_of(object_of(self.done).get(name))):
                yield (text_of(part.get("type")), place), part_text(part)


def part_text(part: Mapping[str, Any]) -> str:
    """The text of a content part, refusals included."""
    return text_of(part.get("text")) or text_of(part.get("refusal"))


class OutputItems:
    """The items of one reply. `taken_ids` are call ids that must not be used again."""

    def __init__(self, taken_ids: Iterable[str] = ()) -> None:
        self._items: list[OutputItem] = []
        self._by_index: dict[int, list[OutputItem]] = {}
        self._next_index = 0
        self._ids = UniqueIds(taken_ids)

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def any_done(self) -> bool:
        """Whether any item has ended."""
        return any(item.done is not None for item in self._items)

    @property
    def has_open_call(self) -> bool:
        """Whether a tool call has begun and not ended."""
        return any(item.done is None and item.type == "function_call" for item in self._items)

    def begin(self, event: Mapping[str, Any]) -> None:
        """Take an `output_item.added`. One that repeats another is ignored."""
        body = object_of(event.get("item"))
        known = self._newest(event, text_of(body.get("id")))
        if not (known and known.id and known.id == body.get("id")):
            self._add(event, body)

    def of(self, event: Mapping[str, Any]) -> OutputItem:
        """The item that a delta belongs to."""
        return self._newest(event, text_of(event.get("item_id"))) or self._add(event, {})

    def end(self, event: Mapping[str, Any]) -> OutputItem:
        """Take an `output_item.done` and return its item."""
        body = object_of(event.get("item"))
        item = self._newest(event, text_of(body.get("id")), ending=body) or self._add(event, body)
        if item.done is None:  # the server may have left out the start: only this event has the type
            item.done, item.type = body, text_of(body.get("type")) or item.type
        return item

    def kept(self, *, cut_off: bool) -> list[tuple[NativeMessage, ToolCall | None]]:
        """The items for the trace, in order, each with its tool call if it is one.

        `cut_off`: the reply ended at a limit, so a call without arguments may have lost them.
        """
        return [self._finished(item, cut_off) for item in self._whole()]

    def _add(self, event: Mapping[str, Any], body: Mapping[str, Any]) -> OutputItem:
        place = _place(event)
        index = self._next_index if place is None else place
        item = OutputItem(index, text_of(body.get("id")), text_of(body.get("type")))
        self._next_index = max(self._next_index, index + 1)
        self._items.append(item)
        self._by_index.setdefault(index, []).append(item)
        return item

    def _newest(
        self, event: Mapping[str, Any], item_id: str, ending: Mapping[str, Any] | None = None
    ) -> OutputItem | None:
        """The newest item at the event's index; one with that id is preferred."""
        place = _place(event)
        here = self._items if place is None else self._by_index.get(place, [])
        newest: OutputItem | None = None
        for item in reversed(here):
            if ending is None or _may_end(item, ending):
                if not item_id or item.id == item_id:
                    return item
                newest = newest or item
        return newest

    def _whole(self) -> list[OutputItem]:
        """The items that can be sent. Reasoning is useless without the item that follows it."""
        kept: list[OutputItem] = []
        follower_kept = False
        for item in sorted(self._items, key=lambda item: item.index)[::-1]:
            if _is_blank_message(item):
                continue
            follower_kept = _can_be_sent(item) and (follower_kept or item.type != "reasoning")
            if follower_kept:
                kept.append(item)
        return kept[::-1]

    def _finished(self, item: OutputItem, cut_off: bool) -> tuple[NativeMessage, ToolCall | None]:
        body: dict[str, Any] = {**mended_json(item.done), "type": item.type}
        if item.type != "function_call":
            return body, None
        raw = mended(_arguments(body.get("arguments")) or "".join(item.arguments))
        arguments, problem = parse_arguments(raw, cut_off=cut_off)
        if body.get("status") == "incomplete":
            arguments, problem = {}, problem or parse_arguments("", cut_off=True)[1]
        call = ToolCall(
            id=self._ids.claim(text_of(body.get("call_id"))),
            name=text_of(body.get("name")),
            arguments=arguments,
            problem=problem,
        )
        sent = raw if raw.strip() and problem is None else "{}"
        return body | {"call_id": call.id, "name": sendable_name(call.name), "arguments": sent}, call


def _place(event: Mapping[str, Any]) -> int | None:
    place = event.get("output_index")
    return place if isinstance(place, int) and not isinstance(place, bool) else None


def _may_end(item: OutputItem, body: Mapping[str, Any]) -> bool:
    """Whether this can be the end of the item, or a repetition of its end."""
    if item.done is None:
        return item.type in ("", body.get("type"))
    return item.done == body or bool(item.id and item.id == body.get("id"))


def _can_be_sent(item: OutputItem) -> bool:
    """Whether the item is whole, has a type, and isn't a call of some other kind of tool that nobody will
    answer."""
    if item.done is None or not item.type:
        return False
    return item.type == "function_call" or not item.done.get("call_id")


def _is_blank_message(item: OutputItem) -> bool:
    if item.done is None or item.type != "message":
        return False
    return not any(text.strip() for _, text in item.whole_texts())


def _arguments(value: object) -> str:
    """Some servers send the arguments as an object."""
    return json.dumps(value) if isinstance(value, Mapping) else text_of(value)
