"""Lists of turns and calls for `recall`: short, however long the session is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from keen_tui.domain.recorded import RecordedCall, RecordedTurn
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

MOST_WHOLE: Final = 4_000
"""The most characters for the newest turns with all their calls."""

MOST_FOLDED: Final = 4_000
"""The most characters for the turns before them, a line each."""

MOST_CALLS: Final = 200
"""The most calls in one list of a turn."""

_LONGEST_TARGET: Final = 160
_LONGEST_TITLE: Final = 80

_OUTCOMES: Final = {"failed": "failed", "denied": "denied", "stopped": "stopped", "not_run": "not run"}


def call_name(call: RecordedCall) -> str:
    """`turn 3, call 7`."""
    return f"turn {call.turn}, call {call.number}"


def call_line(call: RecordedCall) -> str:
    """`bash pytest -q, exit 1, 12.0 kB`."""
    outcome = f"exit {call.exit_code}" if call.exit_code is not None else _OUTCOMES.get(call.outcome, "")
    name = " ".join(filter(None, (call.name, _short(call.target, _LONGEST_TARGET))))
    return clean(", ".join(filter(None, (name, outcome, size(call.size)))))


def calls_of(turn: RecordedTurn, offset: int = 1) -> list[str]:
    """A turn with its messages and its calls; `offset` is the number of the first listed call."""
    rows = [f"turn {turn.turn}, {turn.state}"]
    if offset == 1 and turn.message:
        rows.append(f"message: {turn.message}")
    shown = turn.calls[offset - 1 : offset - 1 + MOST_CALLS]
    rows += (f"call {call.number}: {call_line(call)}" for call in shown)
    if not shown:
        rows.append("no calls" if offset == 1 else f"no calls from {offset} on")
    if (last := offset - 1 + len(shown)) < len(turn.calls):
        rows.append(f"[{counted(len(turn.calls) - last, 'more call')}; continue with offset {last + 1}]")
    elif turn.reply:
        rows.append(f"reply: {turn.reply}")
    return rows


def index_of(turns: Sequence[RecordedTurn], offset: int = 1) -> list[str]:
    """The turns, oldest first: the newest with all their calls, older ones as a line each, and the oldest
    only as a number. With an offset the list begins with that turn, one line per turn."""
    if not any(turn.calls for turn in turns):
        return ["no earlier calls in this session"]
    if offset > 1:
        return _folded_from([turn for turn in turns if turn.turn >= offset])
    whole, rest = _newest_whole(turns)
    folded = _newest_folded(rest)
    before = rest[: len(rest) - len(folded)]
    rows = [_before(before)] if before else []
    return [*rows, *folded, *whole]


def _newest_whole(turns: Sequence[RecordedTurn]) -> tuple[list[str], Sequence[RecordedTurn]]:
    """The lines of the newest turns, and the turns before them. At least the newest is among them, as far as
    it fits."""
    rows: list[str] = []
    room = MOST_WHOLE
    for place in range(len(turns), 0, -1):
        block = _whole(turns[place - 1])
        room -= sum(len(row) + 1 for row in block)
        if room < 0 and rows:
            return rows, turns[:place]
        rows[:0] = block
    return rows, ()


def _whole(turn: RecordedTurn) -> list[str]:
    calls = [f"  call {call.number}: {call_line(call)}" for call in turn.calls]
    room = MOST_WHOLE
    for place, row in enumerate(calls):
        room -= len(row) + 1
        if room < 0:
            left = f"  [{counted(len(calls) - place, 'more call')}; recall with turn {turn.turn} lists them]"
            return [_head(turn), *calls[:place], left]
    return [_head(turn), *calls]


def _newest_folded(turns: Sequence[RecordedTurn]) -> list[str]:
    rows: list[str] = []
    room = MOST_FOLDED
    for turn in reversed(turns):
        row = _folded(turn)
        room -= len(row) + 1
        if room < 0:
            break
        rows.append(row)
    return rows[::-1]


def _folded_from(turns: Sequence[RecordedTurn]) -> list[str]:
    rows: list[str] = []
    room = MOST_WHOLE + MOST_FOLDED
    for turn in turns:
        row = _folded(turn)
        room -= len(row) + 1
        if room < 0:
            return [*rows, f"[continue with offset {turn.turn}]"]
        rows.append(row)
    return rows or ["no such turns"]


def _before(turns: Sequence[RecordedTurn]) -> str:
    first, last = turns[0].turn, turns[-1].turn
    which = f"turn {first}" if first == last else f"turns {first} to {last}"
    return f"{which}: {_totals(turns)}; recall with a turn lists its calls"


def _head(turn: RecordedTurn) -> str:
    return f"turn {turn.turn}, {turn.state}: {_short(turn.title, _LONGEST_TITLE)}".rstrip(": ")


def _folded(turn: RecordedTurn) -> str:
    return f"{_head(turn)} ({_totals((turn,))})"


def _totals(turns: Sequence[RecordedTurn]) -> str:
    """`12 calls: 7 read_file, 5 bash; 2 failed; 48.0 kB`."""
    calls = [call for turn in turns for call in turn.calls]
    if not calls:
        return "no calls"
    names = ", ".join(
        f"{number} {clean(name)}" for name, number in Counter(c.name for c in calls).most_common(5)
    )
    failed = sum(call.outcome == "failed" for call in calls)
    parts = (f"{counted(len(calls), 'call')}: {names}", f"{failed} failed" if failed else "")
    return "; ".join((*filter(None, parts), size(sum(call.size for call in calls))))


def _short(text: str, most: int) -> str:
    line = clean(text)
    return line if len(line) <= most else f"{line[:most]}…"
