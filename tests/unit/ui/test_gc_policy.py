"""Which garbage each of the two collections finds."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from keen_tui.frontends.tui.startup import gc_policy


class Ring:
    """Garbage that only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_is_new_is_looked_through() -> None:
    found = weakref.ref(Ring())
    gc_policy.collect_new()
    assert found() is None


def test_what_is_older_is_looked_through_when_nobody_is_there() -> None:
    ring = Ring()
    found = weakref.ref(ring)
    gc_policy.collect_new()
    del ring
    gc_policy.collect_new()
    assert found() is not None
    gc_policy.collect_all()
    assert found() is None
