"""Whether this program is shown in a browser, by `keen-tui serve`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VARIABLE: Final = "KEEN_SERVED"
"""The variable that `keen-tui serve` sets for the programs that it starts."""


def is_served(environ: Mapping[str, str]) -> bool:
    """Whether a browser shows this program, which takes some keys for itself."""
    return environ.get(VARIABLE) == "1"
