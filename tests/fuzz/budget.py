"""How many examples a property is tried on: few, always the same, in `make test`, many in `make faults`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

LONG = "KEEN_LONG_TESTS" in os.environ
"""Whether there is time for many."""

_ODD_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def examples(few: int, many: int) -> settings:
    """So many examples, without a limit of time for one."""
    return settings(
        max_examples=many if LONG else few,
        derandomize=not LONG,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=_ODD_IS_FINE,
    )
