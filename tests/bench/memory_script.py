"""Three kinds of work, turn by turn: edits, a long investigation whose later turns need earlier output, and a
mixture of both. The model reads and runs again, recalls, or sees everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Literal

from keen_tui.demo.script import Call, Reply, Say
from tests.bench.context_script import SIZES, TASKS, Task, checks_call, edit_call, read_call
from tests.bench.context_script import lay_out as lay_out_shop

Work = Literal["edits", "investigation", "mixed"]
WORKS: tuple[Work, ...] = ("edits", "investigation", "mixed")

Way = Literal["again", "recall", "sees"]
"""How the model gets earlier output: it reads and runs again, recalls it, or sees it in the request."""

MEASURE = "measure.py"
_MEASURE_SCRIPT = """\
import sys

case = sys.argv[1]
seed = sum(map(ord, case))
print(f"case {case}: 120 regions, 10,000 requests each")
for region in range(120):
    p50, p99 = 10 + (seed * 7 + region * 13) % 90, 200 + (seed * 31 + region * 17) % 800
    print(f"{case} region-{region:03} requests=10000 errors={(seed + region) % 23} p50={p50}ms p99={p99}ms "
          f"cache={(seed * region) % 100}% node=n{region % 12}")
print("done")
"""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """A message of the user, and the model's steps."""

    words: str
    replies: tuple[Reply, ...]


def lay_out(root: Path) -> None:
    """Write the shop and the program that measures."""
    lay_out_shop(root)
    (root / MEASURE).write_text(_MEASURE_SCRIPT)


def turns(work: Work, count: int, way: Way, *, with_block: bool = False) -> Sequence[ScriptedTurn]:
    """So many turns of that work; `with_block`: each ends with a note of the model to itself."""
    edits, questions = _edits(way, with_block), _questions(way, with_block)
    match work:
        case "edits":
            return tuple(islice(edits, count))
        case "investigation":
            return tuple(islice(questions, count))
    return tuple(next(edits if number % 3 == 0 else questions) for number in range(count))


def _edits(way: Way, with_block: bool) -> Iterator[ScriptedTurn]:
    """Files have changed since they were read, so a model that doesn't see its own edits reads them again,
    whether it can recall or not."""
    revisions = dict.fromkeys(SIZES, 0)
    known: set[str] = set()
    for task in cycle(TASKS):
        changed = task.reads[0]
        reads = [name for name in task.reads if way != "sees" or name not in known]
        known.update(task.reads)
        steps = [Reply([Say(task.plan), Call("grep_files", {"pattern": f"def {changed}_"})])]
        if reads:
            steps.append(Reply([read_call(name) for name in reads]))
        steps += [
            Reply([edit_call(changed, revisions), checks_call(changed)]),
            Reply([Say("The rounding is off by one cent; I'll fix that."), edit_call(changed, revisions)]),
            Reply([checks_call(changed)]),
            Reply([Say(_closing(task, with_block))]),
        ]
        yield ScriptedTurn(task.words, tuple(steps))


def _closing(task: Task, with_block: bool) -> str:
    return task.closing + (f"\n\n<keen_memory>\n{task.block}\n</keen_memory>" if with_block else "")


def _questions(way: Way, with_block: bool) -> Iterator[ScriptedTurn]:
    """A case is measured, then two questions need the output of earlier cases."""
    number = 0
    while True:
        number += 1
        case = f"case-{number}"
        note = f"\n\n<keen_memory>\n- {case} measured; slowest region looked at\n</keen_memory>"
        said = f"I measured {case}: its slowest regions are on node n7, and no region lost a request."
        measured = (Reply([_measure(case)]), Reply([Say(said + (note if with_block else ""))]))
        yield ScriptedTurn(f"measure {case}", measured)
        for question in (1, 2):
            asked, region = f"case-{max(number - question, 1)}", f"region-{(number * 7 + question) % 120:03}"
            answer = Say(f"In {asked}, {region} had the figures that you see here; it is within the limit.")
            looks = _look(way, asked, region, by_index=question == 2)
            words = f"what were p99 and errors of {region} in {asked}?"
            yield ScriptedTurn(words, (*looks, Reply([answer])))


def _look(way: Way, case: str, region: str, *, by_index: bool) -> tuple[Reply, ...]:
    """The steps that get the figures of a region."""
    if way == "sees":
        return ()
    if way == "again":
        return (Reply([_measure(case)]),)
    found = Reply([Call("recall", {"pattern": f"{case} {region} "})])
    return (Reply([Call("recall", {})]), found) if by_index else (found,)


def _measure(case: str) -> Call:
    return Call("bash", {"command": f"python3 {MEASURE} {case}"})
