"""Statistics of measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def p95(values: Sequence[float]) -> float:
    """The value that 95 % of the measurements don't exceed."""
    return values[0] if len(values) == 1 else statistics.quantiles(values, n=20, method="inclusive")[-1]


def slope(places: Sequence[float], values: Sequence[float]) -> float:
    """The slope of the straight line that fits the values best."""
    return statistics.linear_regression(places, values).slope


def tenths(values: Sequence[float]) -> tuple[float, float]:
    """The medians of the first and of the last tenth of the measurements."""
    size = max(len(values) // 10, 1)
    return statistics.median(values[:size]), statistics.median(values[-size:])
