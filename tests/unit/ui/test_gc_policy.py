"""Garbage is found, young or old."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from keen_tui.frontends.tui.terminal import gc_policy


class Ring:
    """Garbage that only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


def test_old_garbage_is_found_when_everything_is_looked_through() -> None:
    ring = Ring()
    found = weakref.ref(ring)
    gc.collect()
    del ring
    gc.collect(1)
    assert found() is not None
    gc_policy.collect()
    assert found() is None


@pytest.fixture
def no_collections() -> Iterator[None]:
    """Python collects nothing by itself."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1_000_000, *before[1:])
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("no_collections")
def test_young_garbage_is_found_between_frames_once_there_is_enough() -> None:
    ring = Ring()
    found = weakref.ref(ring)
    del ring
    gc_policy.collect_young()
    assert found() is not None
    new = [Ring() for _ in range(1_000)]
    gc_policy.collect_young()
    assert found() is None
    assert len(new) == 1_000


@pytest.mark.usefixtures("no_collections")
def test_garbage_that_survived_a_few_collections_is_found_between_frames() -> None:
    ring = Ring()
    found = weakref.ref(ring)
    kept = [[Ring() for _ in range(1_000)]]
    gc_policy.collect_young()
    del ring
    for _ in range(10):
        kept.append([Ring() for _ in range(1_000)])
        gc_policy.collect_young()
    assert found() is None


@pytest.mark.usefixtures("no_collections")
def test_nothing_is_collected_before_everything_is_loaded() -> None:
    ring = Ring()
    found = weakref.ref(ring)
    del ring
    new = [Ring() for _ in range(1_000)]
    gc.disable()
    try:
        gc_policy.collect_young()
    finally:
        gc.enable()
    assert found() is not None
    assert len(new) == 1_000
