"""The height index against plain sums."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from keen_tui.frontends.tui.transcript.heights import HeightIndex

ROWS = st.integers(0, 50)


class HeightsMachine(RuleBasedStateMachine):
    """The index says after any changes what a list of heights says."""

    def __init__(self) -> None:
        super().__init__()
        self.index = HeightIndex()
        self.plain: list[int] = []

    @rule(height=ROWS)
    def append(self, height: int) -> None:
        self.index.append(height)
        self.plain.append(height)

    @rule(place=st.integers(0, 10_000), height=ROWS)
    def update(self, place: int, height: int) -> None:
        if self.plain:
            self.index.update(place % len(self.plain), height)
            self.plain[place % len(self.plain)] = height

    @rule(length=st.integers(0, 20))
    def truncate(self, length: int) -> None:
        self.index.truncate(length)
        del self.plain[length:]

    @invariant()
    def sums_agree(self) -> None:
        assert len(self.index) == len(self.plain)
        assert self.index.total == sum(self.plain)
        assert [self.index.top(i) for i in range(len(self.plain))] == [
            sum(self.plain[:i]) for i in range(len(self.plain))
        ]


TestHeights = HeightsMachine.TestCase


@given(st.lists(ROWS), st.integers(0, 500))
def test_a_row_is_found_in_the_block_that_holds_it(heights: list[int], row: int) -> None:
    block, offset = HeightIndex(heights).find(row)
    owners = [index for index, height in enumerate(heights) for _ in range(height)]
    if row < len(owners):
        assert block == owners[row]
        assert row == sum(heights[:block]) + offset
    else:
        assert block == len(heights)
