"""The usage of a session by quarter of an hour and model, read from its file without the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from keen_tui.domain.events import Usage
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.spent import NOTHING, NOTHING_LEFT_OUT, Spent
from keen_tui.storage.paths import private_opener

SLOT_SECONDS = 900
"""Seconds of a slot. In every time zone days begin at a full quarter of an hour."""


class UsageSlot(msgspec.Struct, frozen=True, array_like=True):
    """The usage of one model by a session in one quarter of an hour.

    `slot` is the number of the quarter since the epoch. `turns` counts the turns whose first usage was then,
    `calls` all model calls, and `unpriced` those with an unknown cost; `cost` is the cost of the others in US
    dollars. The tokens are the same as in `Spent`.
    """

    slot: int
    model: str
    turns: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    whole_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    web_searches: int = 0

    @property
    def spent(self) -> Spent:
        """The sums, with a cost only if the cost of every call is known."""
        return Spent(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_tokens=self.cached_tokens,
            whole_tokens=self.whole_tokens,
            cost=None if self.unpriced else self.cost,
            web_searches=self.web_searches,
        )


_SLOTS = msgspec.json.Decoder(tuple[UsageSlot, ...])


def encoded_slots(slots: Sequence[UsageSlot]) -> bytes:
    """The slots in the form of the index."""
    return msgspec.json.encode(slots)


def decoded_slots(content: bytes) -> tuple[UsageSlot, ...] | None:
    """The slots from the index; None if the content is something else."""
    try:
        return _SLOTS.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


class _Line(msgspec.Struct):
    """The fields of a record that are needed here."""

    n: int
    at: float
    type: str
    turn: int = 0
    step: int = 0
    model: str = ""
    cost: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    web_searches: int | None = None
    carried_bytes: int = 0
    trace_bytes: int = 0
    whole_bytes: int | None = None
    bytes_before: int = 0
    bytes_after: int = 0
    began: float = 0.0
    forked_from: str = ""


_LINE = msgspec.json.Decoder(_Line)
_TYPE_BEGINS = b'"type":"'
_TYPE_BEFORE = 80
"""Bytes at the beginning of a line that contain its type, after number and time."""
_COUNTED = tuple(
    f'{kind}"'.encode()
    for kind in ("usage", "turn_done", "turn_abandoned", "compacted", "model_changed", "session")
)


def read_slots(path: Path) -> tuple[UsageSlot, ...]:
    """The usage of the session in this file, oldest first. Ignores damaged lines. For a copy only the usage
    since the copy counts: the rest belongs to the original. Raises OSError."""
    counting = _Counting()
    with open(path, "rb", opener=private_opener) as file:
        for line in file:
            place = line.find(_TYPE_BEGINS, 0, _TYPE_BEFORE)
            if place >= 0 and line.startswith(_COUNTED, place + len(_TYPE_BEGINS)):
                counting.take(line)
    return tuple(counting.slots())


class _Counting:
    def __init__(self) -> None:
        self._model = ""
        self._since = 0.0
        self._left_out = NOTHING_LEFT_OUT
        self._seen: set[tuple[int, int]] = set()
        self._turns: set[int] = set()
        self._slots: dict[tuple[int, str], dict[str, Any]] = {}

    def take(self, line: bytes) -> None:
        """Count one record. A repeated record, as after a restored backup, counts once."""
        try:
            record = _LINE.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        mark = record.n, hash(line)
        if mark in self._seen:
            return
        self._seen.add(mark)
        match record.type:
            case "session":
                self._model = record.model
                self._since = record.began if record.forked_from else 0.0
            case "model_changed":
                self._model = record.model
            case "turn_done" | "turn_abandoned":
                whole = record.trace_bytes if record.whole_bytes is None else record.whole_bytes
                self._left_out = self._left_out.more(whole, record.carried_bytes)
            case "compacted":
                self._left_out = self._left_out.more(record.bytes_before, record.bytes_after)
            case "usage":
                self._use(record)

    def slots(self) -> Iterator[UsageSlot]:
        for (slot, model), counts in sorted(self._slots.items()):
            yield UsageSlot(slot, model, **counts)

    def _use(self, record: _Line) -> None:
        is_first = record.turn > 0 and record.turn not in self._turns
        self._turns.add(record.turn)
        if record.at < self._since:
            return
        tokens = TokenUsage(
            input_tokens=record.input_tokens,
            output_tokens=record.output_tokens,
            cached_tokens=record.cached_tokens,
            web_searches=record.web_searches,
        )
        spent = NOTHING.plus(Usage(turn=record.turn, step=record.step, tokens=tokens), self._left_out)
        counts = self._slots.setdefault((int(record.at // SLOT_SECONDS), record.model or self._model), {})
        added = {
            "turns": int(is_first),
            "calls": 1,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cached_tokens": spent.cached_tokens,
            "whole_tokens": spent.whole_tokens,
            "cost": record.cost or 0.0,
            "unpriced": int(record.cost is None),
            "web_searches": spent.web_searches,
        }
        for name, count in added.items():
            counts[name] = counts.get(name, 0) + count
