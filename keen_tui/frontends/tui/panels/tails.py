"""The newest output of running calls in Activity: how many lines of it there is room for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeGuard

from keen_tui.domain.own_tools import TASK
from keen_tui.frontends.tui.state.state import Block, ToolBlock
from keen_tui.text.sanitize import clean

_ROWS: Final = 4
_ROWS_WITH_ROOM: Final = 8
_ROWS_WHEN_TIGHT: Final = 2
_CALLS_BESIDE: Final = 3
_ROWS_AROUND: Final = 4
"""The title with its blank rows, and one below."""


class Tails:
    """The lines below the running calls of a turn. They are never fewer than they were.

    `rows` are as many as the longest took; `end_in_view` says whether the end of the transcript is in view.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.end_in_view = True
        self._several = False
        """Whether several of the calls that run, or ran with those, have put something out."""

    def note(self, live: Iterable[Block]) -> None:
        """These blocks are live now."""
        running = [block for block in live if isinstance(block, ToolBlock) and block.status == "running"]
        self._several = bool(running) and (self._several or sum(map(has_tail, running)) > 1)

    def are_in_transcript(self, block: ToolBlock) -> bool:
        """Whether the transcript shows the newest lines of this call, so that they would be seen twice."""
        return self.end_in_view and block.name != TASK and not self._several

    def forget(self) -> None:
        """The turn is over."""
        self.rows = 0

    def lines(self, block: ToolBlock, limit: int) -> list[str]:
        """The newest lines of a call, at most so many."""
        lines = _newest_lines(block, limit)
        self.rows = max(self.rows, len(lines))
        return lines

    def height(self, block: Block, limit: int, *, folded: bool) -> int:
        """The rows below a running call: its last lines, and what is counted of them. Without the lines if
        the panel is `folded` and the transcript has them."""
        if not has_tail(block):
            return 0
        is_told = folded and self.are_in_transcript(block)
        return 1 if is_told else 1 + max(len(_newest_lines(block, limit)), self.rows)


def has_tail(block: Block) -> TypeGuard[ToolBlock]:
    """Whether it is a call that runs and has put something out."""
    return isinstance(block, ToolBlock) and block.status == "running" and bool(block.tail)


def tail_limit(live: Iterable[Block], entries: int, height: int) -> int:
    """How many lines of output each running call may show in a panel of that height with so many entries:
    many where all calls of the turn stay in view, some where the newest do. Running calls are among the
    `live` blocks."""
    tails = sum(map(has_tail, live))
    room = height - _ROWS_AROUND
    if tails * (_ROWS_WITH_ROOM + 1) + entries <= room:
        return _ROWS_WITH_ROOM
    newest = min(entries, tails + _CALLS_BESIDE)
    return _ROWS if tails * (_ROWS + 1) + newest <= room else _ROWS_WHEN_TIGHT


def _newest_lines(block: ToolBlock, most: int) -> list[str]:
    return [line for line in clean(block.tail, newlines=True).split("\n") if line.strip()][-most:]
