"""A run: turns that go on until a check passes. Its limits, and what it came to."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from keen_tui.domain.choices import MOST_TURNS
from keen_tui.domain.errors import EndReason

RunEnd = Literal[
    "passed",
    "turns",
    "cost",
    "hours",
    "unmeasured",
    "same_failure",
    "asked",
    "failed",
    "stopped",
]
"""Why a run ended: the check passed; a limit was reached; the cost can't be measured; the check failed in the
same way too often; something had to be asked and nobody was there; a turn ended in a way that no retry cures;
the user stopped the run."""


class RunLimits(Struct, frozen=True, kw_only=True):
    """The limits of a run: turns, US dollars, and hours of work and waiting. None: no limit."""

    turns: int | None = MOST_TURNS
    cost: float | None = None
    hours: float | None = None


class RetriedTurns(Struct, frozen=True, kw_only=True):
    """How many retries of a run followed turns that ended with this reason."""

    reason: EndReason
    count: int


class RunReport(Struct, frozen=True, kw_only=True):
    """The outcome of a run.

    `turns` counts its messages, `retries` the further attempts at them and at their steps. `cost` is in US
    dollars, that of the model calls whose price is known, None if there are only others; `unpriced` counts
    these. `work_seconds` is the time of turns and checks, `waited_seconds` that of the waits between
    attempts. `files_changed` are the files that its turns changed, in first-seen order. `asked` is what had
    to be asked, without an answer. `is_unfinished`: the newest turn isn't done, and a retry continues
    it.
    """

    check: str
    end: RunEnd
    detail: str
    limits: RunLimits
    turns: int
    retries: tuple[RetriedTurns, ...]
    checks: int
    failed_checks: int
    cost: float | None
    unpriced: int
    work_seconds: float
    waited_seconds: float
    files_changed: tuple[str, ...]
    asked: tuple[str, ...]
    is_unfinished: bool
