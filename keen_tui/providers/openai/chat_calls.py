"""Assembles the streamed tool calls of a Chat Completions reply.

Fragments of one call have the same `index`. But some servers leave it out, use one index for all calls,
repeat id and name in every fragment, or give every fragment another id. The rules below tell calls apart by
what only a new call has: a name together with another id, or a name and arguments after a whole call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from keen_tui.domain.messages import NativeMessage, ToolCall
from keen_tui.providers.wire.arguments import UniqueIds, parse_arguments, sendable_name
from keen_tui.providers.wire.json_fields import text_of
from keen_tui.providers.wire.wire_text import mended, mended_json

_MARKS = re.compile(r'\\(?:.|$)|["{}\[\]]|\S', re.DOTALL)
_IN_STRING = re.compile(r'\\(?:.|$)|"', re.DOTALL)


class JsonExtent:
    """Finds the end of a JSON object whose text arrives in pieces, and reads each piece once: counts brackets
    and follows strings. A parser has to check whether the text is valid otherwise."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escapes = False
        self._has_begun = False
        self._is_spoilt = False

    @property
    def is_closed(self) -> bool:
        """Whether an object or list has ended, with only white space before and after it."""
        return self._has_begun and self._depth == 0 and not self._is_spoilt

    def feed(self, piece: str) -> None:
        """Take the next piece."""
        place = 0
        if self._escapes and piece:  # the previous piece ended with the backslash
            place, self._escapes = 1, False
        while not self._is_spoilt:
            mark = (_IN_STRING if self._in_string else _MARKS).search(piece, place)
            if mark is None:
                return
            place = mark.end()
            self._take(mark[0])

    def _take(self, mark: str) -> None:
        if self._in_string:
            self._escapes = mark == "\\"
            self._in_string = mark != '"'
        elif self._depth == 0 and (self._has_begun or mark not in "{["):
            self._is_spoilt = True
        elif mark in "{[":
            self._has_begun = True
            self._depth += 1
        elif mark in "}]":
            self._depth -= 1
        elif mark == '"':
            self._in_string = True


class _Draft(Struct):
    index: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    extent: JsonExtent = field(default_factory=JsonExtent)
    looked_at: int = 0

    @property
    def raw(self) -> str:
        return mended("".join(self.pieces))

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are a whole JSON object. Reads each piece once, no matter how often it is
        called."""
        for piece in self.pieces[self.looked_at :]:
            self.extent.feed(piece)
        self.looked_at = len(self.pieces)
        return self.extent.is_closed


class CallAssembly:
    """Takes `tool_calls` deltas and returns the calls, in order of index. `taken_ids` must not be used
    again."""

    def __init__(self, taken_ids: Iterable[str] = ()) -> None:
        self._drafts: list[_Draft] = []
        self._by_index: dict[int, list[_Draft]] = {}
        self._next_index = 0
        self._ids = UniqueIds(taken_ids)

    def __bool__(self) -> bool:
        return bool(self._drafts)

    def feed(self, fragments: object) -> None:
        """Add the fragments of one delta; anything but a list of objects is ignored."""
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, Mapping):
                self._add(fragment)

    def finish(self, *, cut_off: bool = False) -> list[tuple[ToolCall, NativeMessage]]:
        """Each call, with its object for the assistant message of the trace. `cut_off`: the reply ended at a
        limit."""
        in_order = sorted(self._drafts, key=lambda draft: draft.index)
        return [self._finished(draft, cut_off) for draft in in_order]

    def _add(self, fragment: Mapping[str, Any]) -> None:
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        call_id, name = text_of(fragment.get("id")), text_of(function.get("name"))
        piece = _arguments_piece(function.get("arguments"))
        draft = self._draft_for(fragment.get("index"), call_id, name, piece)
        draft.id = draft.id or call_id
        draft.name = draft.name or name
        draft.pieces.append(piece)
        if extra := fragment.get("extra_content"):
            draft.extra["extra_content"] = extra

    def _draft_for(self, index: object, call_id: str, name: str, piece: str) -> _Draft:
        place = index if isinstance(index, int) and not isinstance(index, bool) else None
        draft = self._candidate(place, call_id)
        if draft is None or _begins_new(draft, call_id, name, piece):
            draft = _Draft(self._next_index if place is None else place)
            self._next_index = max(self._next_index, draft.index + 1)
            self._drafts.append(draft)
            self._by_index.setdefault(draft.index, []).append(draft)
        return draft

    def _candidate(self, index: int | None, call_id: str) -> _Draft | None:
        """The newest draft that a fragment may belong to: by index, by id if the index is missing or serves
        several calls, or simply the last one."""
        here = self._drafts if index is None else self._by_index.get(index, [])
        if call_id:
            same_id = next((draft for draft in reversed(here) if draft.id == call_id), None)
            if same_id or index is None:
                return same_id
        return here[-1] if here else None

    def _finished(self, draft: _Draft, cut_off: bool) -> tuple[ToolCall, NativeMessage]:
        raw = draft.raw
        arguments, problem = parse_arguments(raw, cut_off=cut_off)
        call_id = self._ids.claim(mended(draft.id))
        name = mended(draft.name)
        sent = raw if raw.strip() and problem is None else "{}"
        native = {
            "id": call_id,
            "type": "function",
            "function": {"name": sendable_name(name), "arguments": sent},
        }
        call = ToolCall(id=call_id, name=name, arguments=arguments, problem=problem)
        return call, native | mended_json(draft.extra)


def _begins_new(draft: _Draft, call_id: str, name: str, piece: str) -> bool:
    """Whether a fragment that would go to `draft` by its index or place begins another call."""
    if not name or not draft.name:
        return False
    if call_id and draft.id and call_id != draft.id:
        return True
    if piece.strip() and draft.is_whole:
        return True
    return not call_id and name != draft.name


def _arguments_piece(value: object) -> str:
    """Some servers send the arguments as an object."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
