"""The cells of a change are painted once, each by the widget in front."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from textual._compositor import Compositor
from textual.geometry import Region

from keen_tui.frontends.tui.terminal.compositor import WantedCells

SCREEN = Region(0, 0, 12, 6)
Cell = tuple[int, int]

regions = st.builds(Region, st.integers(0, 11), st.integers(0, 5), st.integers(1, 12), st.integers(1, 6)).map(
    SCREEN.intersection
)


def cells(region: Region) -> set[Cell]:
    """Row and column of each cell."""
    return {(y, x) for y in region.line_range for x in region.column_range}


def cuts(widgets: Sequence[Region]) -> list[list[int]]:
    """Where widgets begin or end in each row."""
    return [
        sorted({edge for each in widgets if y in each.line_range for edge in each.column_span})
        for y in SCREEN.line_range
    ]


@given(st.lists(regions, max_size=4), st.lists(regions, min_size=1, max_size=4))
def test_each_cell_is_taken_once_by_the_widget_in_front(front: list[Region], changed: list[Region]) -> None:
    widgets = [*front, SCREEN]
    wanted = WantedCells(Compositor._regions_to_spans(changed), cuts(widgets))
    taken: dict[Cell, int] = {}
    for number, widget in enumerate(widgets):
        for run in wanted.runs(widget):
            assert cells(run) <= cells(widget)
            for y in run.line_range:
                for left, right in wanted.take(y, run.column_span):
                    for x in range(left, right):
                        assert (y, x) not in taken, "it is painted twice"
                        taken[y, x] = number
    assert not wanted
    assert {cell for region in changed for cell in cells(region)} <= taken.keys()
    for cell, number in taken.items():
        assert number == next(at for at, widget in enumerate(widgets) if cell in cells(widget))


def test_a_span_ends_where_a_widget_ends() -> None:
    wanted = WantedCells([(0, 5, 6)], [[0, 4, 8, 12]])
    assert wanted.runs(SCREEN) == [Region(0, 0, 12, 1)]
    assert wanted.take(0, (0, 12)) == [(4, 8)]
