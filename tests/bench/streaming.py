"""The cost of a stream, and its effect on keys that are pressed meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise, zip_longest
from statistics import median

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.key_echo import echo_rows, echoes
from tests.bench.long_session import session_file
from tests.bench.programs import PROMPT_SIGN, Place, in_terminal, keen, place, workspace
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

DELTAS, DELTA_SIZE = 5_000, 12
ROUNDS = 3
PACE, SLOW_PACE = 300, 200
"""Deltas a second."""
END = "THE-END-OF-IT"

_MIXED = """\
## Section

A paragraph with **bold**, *italic* and `code` that goes on for a while so that it wraps once or twice on
the screen, as paragraphs of models do.

- first point, with a [link](https://example.org)
- second point

```python
def total(self) -> int:
    return sum(price for _, price in self.lines)
```

| name | value |
|---|---|
| one | 1 |

"""
TEXTS: Mapping[str, str] = {
    "mixed Markdown": _MIXED,
    "one paragraph": "words that never end and never break a line ",
    "one fence": "    value = compute(value, other)  # a line of code\n",
    "one list": "- an item of a list with a few words in it\n",
    "one table": "| cell one | cell two | cell three |\n",
}
_OPENINGS = {"one fence": "```python\n", "one table": "| a | b | c |\n|---|---|---|\n"}

SDK_ALONE = """\
import asyncio, sys, time
import openai
async def main():
    client = openai.AsyncOpenAI(api_key="x", base_url=sys.argv[1], max_retries=0)
    begin = None
    stream = await client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "hi"}], stream=True)
    async for chunk in stream:
        if begin is None:
            begin = time.process_time()
    print("CPU", time.process_time() - begin, "END")
asyncio.run(main())
"""


def rows() -> Iterator[Row]:
    """Full speed for each kind of text, then 200 deltas a second, and 300 with keys pressed.

    At full speed the figures are medians of alternating runs, since the speed of the machine varies.
    """
    for name in TEXTS:
        reply = Reply([Say(text(name))], delta_size=DELTA_SIZE)
        pairs = [(_keen_at_full_speed(reply), sdk_alone(reply)) for _ in range(ROUNDS)]
        yield Row(
            what=f"5,000 deltas at full speed, {name}",
            value=median(ours for ours, _ in pairs),
            unit="s CPU",
            reference=median(alone for _, alone in pairs),
            against="the SDK alone",
            budget=2.0,
        )
    yield Row(what=f"{SLOW_PACE} deltas/s: of one core", value=_share_of_a_core(), unit="%", budget=20)
    yield from _paced()


def text(name: str, deltas: int = DELTAS) -> str:
    """That kind of text in so many deltas, followed by END in its own paragraph."""
    wanted = deltas * DELTA_SIZE
    whole = _OPENINGS.get(name, "") + TEXTS[name] * (wanted // len(TEXTS[name]) + 1)
    closing = "\n```\n" if name == "one fence" else "\n"
    return f"{whole[:wanted]}{closing}\n{END}"


def sdk_alone(reply: Reply) -> float:
    """CPU from the first chunk on."""
    with serving(ModelServer(lambda _: reply)) as server, place() as new:
        argv = (sys.executable, "-c", SDK_ALONE, server.base_url)
        with in_terminal(argv, new) as program:
            program.wait_for("END")
            return float(bytes(program.output).split(b"CPU ")[1].split()[0])


def _keen_at_full_speed(reply: Reply) -> float:
    """CPU of all threads from Enter until the last word appears."""
    with serving(ModelServer(lambda _: reply)) as server, workspace(server.base_url) as program:
        before = program.cpu()
        program.type("hi\r")
        program.wait_for(END)
        return program.cpu() - before


def _share_of_a_core() -> float:
    """CPU of all threads as a share of the time that passes, from the first word to the last, in percent."""
    reply = Reply([Say(text("mixed Markdown", 10 * SLOW_PACE))], delta_size=DELTA_SIZE, pace=1 / SLOW_PACE)
    with serving(ModelServer(lambda _: reply)) as server, workspace(server.base_url) as program:
        program.type("hi\r")
        begin, spent = program.wait_for("Section"), program.cpu()
        end = program.wait_for(END)
        return (program.cpu() - spent) / (end - begin) * 100


def _paced() -> Iterator[Row]:
    """Key echoes in elapsed time through the terminal, gaps between two pieces of output meanwhile, and the
    text in the session file compared with the sent one."""
    sent = text("mixed Markdown")
    server = ModelServer(lambda _: Reply([Say(sent)], delta_size=DELTA_SIZE, pace=1 / PACE))
    with serving(server), place() as new, in_terminal(keen(server.base_url), new) as program:
        program.wait_for(PROMPT_SIGN)
        program.come_to_rest(1.0)
        program.type("hi\r")
        program.wait_for("Section")
        program.pieces = []
        seen = list(echoes(program, lambda _: bool(server.open_streams), pause=0.1))
        pieces, program.pieces = program.pieces, None
        wait_for_end(program)
        arrived = saved_text(new)
    yield from echo_rows("300 deltas/s", seen, 33)
    gaps = [(end - begin, waited - before) for (begin, before), (end, waited) in pairwise(pieces)]
    yield Row(
        what="300 deltas/s: longest gap between paints",
        value=max(gap - queued for gap, queued in gaps) * 1000,
        unit="ms",
        budget=100,
    )
    yield Row(
        what="300 deltas/s: the same, with waiting for a processor",
        value=max(gap for gap, _ in gaps) * 1000,
        unit="ms",
    )
    missing = sum(one != other for one, other in zip_longest(sent, arrived))
    yield Row(what="300 deltas/s: characters that did not arrive", value=missing, unit="", budget=0)


def wait_for_end(program: TerminalProgram) -> None:
    """Wait until the turn is done and nothing moves any more."""
    program.wait_for_screen("turn 1 done")
    program.come_to_rest(0.3)


def saved_text(where: Place) -> str:
    """The whole text of the only session that was saved there."""
    records = map(json.loads, session_file(where).read_text().splitlines())
    return "".join(record["text"] for record in records if record["type"] == "text_delta")
