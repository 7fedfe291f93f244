"""What was sent beside what the whole history would have been: the same wherever it is shown."""

from __future__ import annotations

from typing import NamedTuple

from keen_tui.domain.spent import Spent
from keen_tui.text.units import counted

NEW, CACHED, LEFT_OUT = "new", "from cache", "left out"
"""The three parts of a bar, in words."""


class BarCells(NamedTuple):
    """The cells of a bar: what was sent and is new, what was sent and came from the cache, and what the whole
    history would have added."""

    new: int
    cached: int
    left_out: int


def bar_cells(spent: Spent, most: int, cells: int) -> BarCells:
    """A bar on the scale on which `most` tokens fill `cells`. Something that was sent takes at least one."""
    if not (most and spent.whole_tokens):
        return BarCells(0, 0, 0)
    ends = (spent.new_tokens, spent.input_tokens, spent.whole_tokens)
    new, sent, whole = (min(round(end * cells / most), cells) for end in ends)
    if not sent and spent.input_tokens:
        new, sent = (1, 1) if spent.new_tokens else (0, 1)
    return BarCells(new, sent - new, max(whole - sent, 0))


def percent_of_whole(spent: Spent) -> str:
    """`34 %`: how much was sent of what the whole history would have been; "" for nothing."""
    return percent_of(spent.input_tokens, spent.whole_tokens) if spent.whole_tokens else ""


def percent_of(part: int, whole: int) -> str:
    """`34 %`, `<1 %`; `100 %` only where nothing is missing. `whole` MUST NOT be 0."""
    percent = round(100 * part / whole)
    if part and not percent:
        return "<1 %"
    return f"{min(percent, 99) if part < whole else percent} %"


def whole_history(spent: Spent) -> str:
    """`Sent: 118,234 tokens, 34 % of the whole history (350,102).`, and the number of searches if there are
    any."""
    part = percent_of_whole(spent) or "nothing"
    sent = f"Sent: {spent.input_tokens:,} tokens, {part} of the whole history ({spent.whole_tokens:,})."
    if not spent.web_searches:
        return sent
    return f"{sent} {counted(spent.web_searches, 'web search', 'web searches')}, not in the cost."
