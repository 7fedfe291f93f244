"""How the first request of a turn grows over twelve turns of work, under each memory policy."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import ToolFinished, TurnDone
from keen_tui.domain.reports import POLICIES
from tests.bench.context_script import TASKS, lay_out, replies
from tests.bench.table import Row
from tests.support.agent import at_work

OUT = Path("out")

Growth = Mapping[PolicyName, Sequence[int]]
"""Bytes of the first request of each turn, by policy."""

MOST_GROWTH = 10_000
"""Bytes that the twelfth turn may have more than the first."""

MOST_OF_FULL_TRACE = 1 / 20


def measured() -> Growth:
    """Play the script under each policy against the scripted server."""
    return {policy: asyncio.run(_first_requests(policy)) for policy in POLICIES}


def rows() -> Iterator[Row]:
    """The budgets. Also prints and writes the table turn by turn."""
    growth = measured()
    write(growth, OUT)
    print(f"{markdown(growth)}\n")
    yield from verdicts(growth)


def verdicts(growth: Growth) -> Iterator[Row]:
    """The budgets of the policies that don't replay."""
    whole = _grown(growth["full-trace"])
    for policy in ("summary", "in-band"):
        grown = _grown(growth[policy])
        yield Row(
            what=f"context of turn 12 above turn 1, {policy}",
            value=grown / 1000,
            unit="kB",
            budget=MOST_GROWTH / 1000,
        )
        yield Row(
            what=f"the same against full-trace, {policy}",
            value=grown / 1000,
            unit="kB",
            reference=whole / 1000,
            against="full-trace",
            budget=MOST_OF_FULL_TRACE,
        )


def markdown(growth: Growth) -> str:
    """The bytes turn by turn as a Markdown table."""
    lines = [f"| turn | {' | '.join(POLICIES)} |", "|---|" + "---:|" * len(POLICIES)]
    for turn in range(len(TASKS)):
        lines.append(f"| {turn + 1} | {_cells(f'{growth[policy][turn]:,}' for policy in POLICIES)} |")
    whole = _grown(growth["full-trace"])
    lines.append(f"| growth | {_cells(f'{_grown(growth[policy]):,}' for policy in POLICIES)} |")
    lines.append(
        f"| of full-trace | {_cells(f'{_grown(growth[policy]) / whole:.1%}' for policy in POLICIES)} |"
    )
    return "\n".join(lines)


def write(growth: Growth, folder: Path) -> None:
    """Write context.md and context.json."""
    folder.mkdir(exist_ok=True)
    (folder / "context.md").write_text(markdown(growth) + "\n")
    (folder / "context.json").write_text(json.dumps(growth, indent=2) + "\n")


def _cells(texts: Iterator[str]) -> str:
    return " | ".join(texts)


def _grown(sizes: Sequence[int]) -> int:
    return sizes[-1] - sizes[0]


async def _first_requests(policy: PolicyName) -> tuple[int, ...]:
    script = list(replies(with_block=policy == "in-band"))
    with tempfile.TemporaryDirectory(prefix="keen-shop-") as folder:
        lay_out(Path(folder))
        async with at_work(script, Path(folder), policy=policy) as bench:
            sizes = []
            for task in TASKS:
                number = len(bench.server.requests)
                end = await bench.ask(task.words)
                if not (isinstance(end, TurnDone) and end.turn_memory.files_changed):
                    raise AssertionError(f"a turn of the script did not do its work: {end}")
                sizes.append(len(bench.server.requests[number].raw))
            if any(call.result.is_error for call in bench.log.of(ToolFinished)):
                raise AssertionError("a call of the script failed")
            bench.assert_valid_requests()
            return tuple(sizes)
