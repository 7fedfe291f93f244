"""Which widget is in front in each cell of the screen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size
from textual.widget import Widget

from keen_tui.frontends.tui.terminal.compositor import Layer, visible_runs

SCREEN = Size(12, 6)

regions = st.builds(
    Region, st.integers(-2, 11), st.integers(-2, 5), st.integers(1, 12), st.integers(1, 6)
).filter(SCREEN.region.overlaps)


@given(st.lists(regions, max_size=6))
def test_each_cell_is_in_one_run_of_the_widget_in_front(places: list[Region]) -> None:
    layers = [Layer(Widget(), place, place) for place in (*places, SCREEN.region)]
    rows = visible_runs(SCREEN, layers)
    for y in range(SCREEN.height):
        for x in range(SCREEN.width):
            (found,) = [run.layer for run in rows[y] if run.left <= x < run.right]
            assert found is next(layer for layer in layers if layer.seen.contains(x, y))


def test_the_edge_of_a_covered_widget_cuts_nothing() -> None:
    front, covered = Region(0, 0, 12, 2), Region(3, 0, 4, 2)
    rows = visible_runs(SCREEN, [Layer(Widget(), place, place) for place in (front, covered, SCREEN.region)])
    assert [(run.left, run.right) for run in rows[0]] == [(0, 12)]
