"""The size of all turns together in later requests, computed once for each turn."""

from __future__ import annotations

from msgspec import Struct

from keen_tui.frontends.tui.state.state import TurnRow
from keen_tui.frontends.tui.state.trail import Trail


class Sums(Struct, frozen=True):
    """Of the `settled` turns, in bytes: what later requests carry of them, the user's words included, and
    those words with the traces."""

    settled: int = 0
    carried_bytes: int = 0
    trace_bytes: int = 0

    def plus(self, row: TurnRow) -> Sums:
        """With one more turn."""
        if row.status in ("running", "pending"):
            return self
        carried, whole = carried_of(row)
        return Sums(self.settled + 1, self.carried_bytes + carried, self.trace_bytes + whole)


def carried_of(row: TurnRow) -> tuple[int, int]:
    """Bytes that later requests carry of a settled turn, and those of all that was said and done in it."""
    trace = row.trace_bytes or 0 if row.carried_bytes is not None else 0
    carried = 0 if row.summarised else row.said_bytes + (row.carried_bytes or 0)
    return carried, row.said_bytes + row.attached_bytes + trace


class Totals:
    """The sums of a trail of turns. Those before the newest one are added up once, as the trail grows."""

    def __init__(self) -> None:
        self._turns: Trail[TurnRow] = Trail()
        self._before = Sums()
        self._counted = 0

    def of(self, turns: Trail[TurnRow]) -> Sums:
        """The sums over all of them."""
        earlier = max(len(turns) - 1, 0)
        if self._counted > min(turns.same_as(self._turns), earlier):
            self._before, self._counted = Sums(), 0
        for row in turns.since(self._counted)[:-1]:
            self._before = self._before.plus(row)
        self._turns, self._counted = turns, earlier
        return self._before.plus(turns[-1]) if turns else self._before
