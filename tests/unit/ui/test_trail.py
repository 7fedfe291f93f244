"""Trails: whatever grows from them, they stay what they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.frontends.tui.state.trail import Trail

Grown = tuple[Trail[int], tuple[int, ...]]

steps = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.one_of(
            st.tuples(st.just("plus"), st.lists(st.integers(), max_size=3)),
            st.tuples(st.just("last"), st.integers()),
            st.tuples(st.just("mapped"), st.integers(0, 8)),
        ),
    ),
    max_size=30,
)
"""Which of the trails so far goes on, and how."""


def gone_on(trail: Trail[int], items: tuple[int, ...], how: str, what: object) -> Grown:
    match how, what:
        case "plus", list(more):
            return trail.plus(more), (*items, *more)
        case "last", int(item) if items:
            return trail.with_last(item), (*items[:-1], item)
        case "mapped", int(start):
            return trail.mapped(lambda item: item + 1, start), (
                *items[:start],
                *(item + 1 for item in items[start:]),
            )
    return trail, items


@given(steps)
def test_every_trail_stays_the_same_tuple_whatever_grows_from_it(
    script: list[tuple[int, tuple[str, object]]],
) -> None:
    grown: list[Grown] = [(Trail(), ())]
    for place, (how, what) in script:
        grown.append(gone_on(*grown[place % len(grown)], how, what))
    for trail, items in grown:
        assert tuple(trail) == items
        assert len(trail) == len(items) and bool(trail) == bool(items)
        assert [trail[place] for place in range(-len(items), len(items))] == [*items, *items]
        assert all(trail.since(start) == list(items[start:]) for start in range(len(items) + 2))
        assert trail[1:] == items[1:] and trail[-2:-1] == items[-2:-1]
    for trail, items in grown:
        for other, others in grown:
            assert (trail == other) == (items == others)
            same = trail.same_as(other)
            assert items[:same] == others[:same]


def test_what_grew_from_a_trail_is_known_to_begin_like_it() -> None:
    one = Trail(range(1_000))
    assert one.plus((1, 2)).same_as(one) == one.same_as(one) == 1_000
    assert one.with_last(-7).same_as(one) == 999
    assert one.same_as(Trail(range(1_000))) == 0


@pytest.mark.parametrize("place", [2, -3])
def test_there_is_nothing_beside_a_trail(place: int) -> None:
    with pytest.raises(IndexError):
        Trail("ab")[place]
