"""The usage of all sessions, added up by day and model."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keen_tui.domain.reports import ModelUsage, UsageReport
from keen_tui.storage.lookup.spending import SLOT_SECONDS, UsageSlot

if TYPE_CHECKING:
    from keen_tui.storage.lookup.sessions import SessionStore


def usage_since(first_day: date, store: SessionStore) -> UsageReport:
    """The usage of the saved sessions from that day on, in local time. Raises StorageFailed."""
    since = _midnight(first_day)
    sums: dict[tuple[str, str], ModelUsage] = {}
    total = ModelUsage()
    for slots in store.usages(since):
        counted = [slot for slot in slots if slot.slot * SLOT_SECONDS >= since]
        of_session: dict[tuple[str, str], list[UsageSlot]] = {}
        for slot in counted:
            day = date.fromtimestamp(slot.slot * SLOT_SECONDS).isoformat()
            of_session.setdefault((day, slot.model), []).append(slot)
        for key, some in of_session.items():
            sums[key] = _with_session(sums.get(key) or ModelUsage(day=key[0], model=key[1]), some)
        if counted:
            total = _with_session(total, counted)
    rows = tuple(sums[key] for key in sorted(sums))
    return UsageReport(first_day=first_day.isoformat(), rows=rows, total=total)


def _midnight(day: date) -> float:
    """The beginning of the day in local time; days before the epoch count as the epoch."""
    try:
        return max(datetime.combine(day, time()).timestamp(), 0.0)
    except (OSError, OverflowError, ValueError):
        return 0.0


def _with_session(row: ModelUsage, slots: Iterable[UsageSlot]) -> ModelUsage:
    """The row with the usage of one more session added."""
    row = replace(row, sessions=row.sessions + 1)
    for slot in slots:
        row = replace(
            row,
            turns=row.turns + slot.turns,
            calls=row.calls + slot.calls,
            spent=row.spent.joined(slot.spent),
            known_cost=row.known_cost + slot.cost,
            unpriced=row.unpriced + slot.unpriced,
        )
    return row
