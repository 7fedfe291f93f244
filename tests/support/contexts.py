"""Reports of the next request for tests of the context view: numbers are the design's."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.reports import CacheReuse, ContextPart, ContextReport, PartSize

TURN_3 = """› round the totals once, at the end, not per line

Totals are now rounded once, at the end. Money keeps four places until then; Cart only adds.

Tool memory:
- Files changed: src/money.py, src/cart.py"""

Amount = tuple[int, int]
"""Bytes and tokens."""


def part(
    kind: str,
    title: str,
    label: str,
    *amounts: Amount,
    text: str = "",
    left_out: str = "",
    includes: str = "",
    turn: int = 0,
) -> ContextPart:
    """A part with one amount per policy, or one for all; only `summary` leaves something out."""
    all_amounts = amounts if len(amounts) == 3 else amounts * 3
    sizes = tuple(
        PartSize(
            text=text or f"text of {title}" * bool(amount[0]),
            bytes=amount[0],
            tokens=amount[1],
            left_out="" if place else left_out,
            includes=includes,
        )
        for place, amount in enumerate(all_amounts)
    )
    return ContextPart(kind=kind, title=title, label=label, sizes=sizes, turn=turn)  # type: ignore[arg-type]


def turn(
    number: int, title: str, *amounts: Amount, text: str = "", left_out: str = "", includes: str = ""
) -> ContextPart:
    return part(
        "turn",
        f"turn {number}",
        title,
        *amounts,
        text=text,
        left_out=left_out,
        includes=includes,
        turn=number,
    )


def report(parts: Sequence[ContextPart], *, window: int | None = 200_000) -> ContextReport:
    """A report of these parts under `summary`."""
    totals = tuple(
        PartSize(
            text="",
            bytes=sum(part.sizes[policy].bytes for part in parts),
            tokens=sum(part.sizes[policy].tokens for part in parts),
        )
        for policy in range(3)
    )
    return ContextReport(
        policy="summary",
        window=window,
        parts=tuple(parts),
        totals=totals,  # type: ignore[arg-type]
        reuse=tuple(map(half_reused, totals)),  # type: ignore[arg-type]
    )


def half_reused(total: PartSize) -> CacheReuse:
    """Half of the request is in the cache, at a tenth of the price: three dollars a million tokens."""
    half = total.tokens // 2
    return CacheReuse(
        bytes=total.bytes // 2,
        tokens=half,
        cost=total.tokens * 3e-6,
        reused_cost=(total.tokens - half) * 3e-6 + half * 3e-7,
    )


def pictured() -> ContextReport:
    """The report of the design's picture, with an incomplete fourth turn."""
    return report(
        (
            part("system", "system prompt", "", (6_200, 1_600)),
            part("tools", "tool definitions", "9 tools", (11_800, 3_000)),
            part("system", "project instructions", "AGENTS.md", (4_000, 1_000)),
            turn(1, "set up the project", (300, 80), (350, 90), (6_700, 1_700)),
            turn(2, "where is tax computed?", (400, 100), (700, 180), (21_000, 5_300)),
            turn(
                3, "round totals once", (500, 130), (800, 200), (38_400, 9_600),
                text=TURN_3, left_out="6 calls and their results, 38.0 kB",
            ),
            turn(4, "fix the failing discount test", (100, 25)),
            part("pending", "pending", "4 calls, kept", (18_200, 4_500), turn=4),
            part("draft", "your draft", "empty", (0, 0)),
            part("frame", "frame", "JSON around the messages", (350, 90)),
        )
    )  # fmt: skip


def long(turns: int = 1_000) -> ContextReport:
    """A conversation of many turns."""
    past = (
        turn(number, f"step {number}", (400, 100), (700, 180), (9_000, 2_200))
        for number in range(1, turns + 1)
    )
    return report((part("system", "system prompt", "", (6_200, 1_600)), *past))


def under(report: ContextReport, policy: PolicyName) -> ContextReport:
    """The same report with another policy in use."""
    return replace(report, policy=policy)
