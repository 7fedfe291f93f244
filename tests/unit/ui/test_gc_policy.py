"""Garbage that has become old is found."""

from __future__ import annotations

import gc
import weakref

from keen_tui.frontends.tui.startup import gc_policy


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
