"""How many examples a property is tried on: few in `make test`, many in `make faults`."""

from __future__ import annotations

import os

from hypothesis import settings

LONG = "KEEN_LONG_TESTS" in os.environ
"""Whether there is time for many."""


def examples(few: int, many: int) -> settings:
    """So many examples; all else is as tests/conftest.py says."""
    return settings(max_examples=many if LONG else few)
