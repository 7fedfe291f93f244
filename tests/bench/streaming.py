"""What a stream costs, and what it does to the keys that are pressed meanwhile."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.startup import PROMPT_SIGN, keen
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

DELTAS, DELTA_SIZE = 5_000, 12
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
    """Full speed for each kind of text, then 300 deltas a second with keys pressed."""
    for name in TEXTS:
        reference = _sdk_alone(_reply(name))
        yield Row(
            what=f"5,000 deltas at full speed, {name}",
            value=_keen_at_full_speed(_reply(name)),
            unit="s CPU",
            reference=reference,
            against="the SDK alone",
            budget=2.0,
        )
    echoes, gap = _keys_while_streaming()
    yield Row(
        what="300 deltas/s: key echo p95",
        value=statistics.quantiles(echoes, n=20)[-1] * 1000,
        unit="ms",
        budget=33,
    )
    yield Row(what="300 deltas/s: longest gap between paints", value=gap * 1000, unit="ms", budget=100)


def idle_rows() -> Iterator[Row]:
    """What the program costs when nothing happens."""
    with tempfile.TemporaryDirectory() as home, _started(home, "http://127.0.0.1:9/v1") as program:
        program.settle(3)
        before = program.cpu()
        time.sleep(20)
        yield Row(what="idle for 20 s", value=(program.cpu() - before) / 20 * 100, unit="% CPU", budget=0.5)
        yield Row(what="memory after start", value=program.rss(), unit="MB", budget=160)


def _reply(name: str, pace: float = 0.0) -> Reply:
    wanted = DELTAS * DELTA_SIZE
    text = _OPENINGS.get(name, "") + TEXTS[name] * (wanted // len(TEXTS[name]) + 1)
    closing = "\n```\n" if name == "one fence" else "\n"
    return Reply([Say(f"{text[:wanted]}{closing}\n{END}")], delta_size=DELTA_SIZE, pace=pace)


def _sdk_alone(reply: Reply) -> float:
    with (
        serving(ModelServer(lambda _: reply)) as server,
        TerminalProgram((sys.executable, "-c", SDK_ALONE, server.base_url)) as program,
    ):
        program.wait_for("END")
        return float(bytes(program.output).split(b"CPU ")[1].split()[0])


def _keen_at_full_speed(reply: Reply) -> float:
    server = ModelServer(lambda _: reply)
    with serving(server), tempfile.TemporaryDirectory() as home, _started(home, server.base_url) as program:
        program.settle(2.5)  # the SDK is being imported in the background
        before = program.cpu()
        program.type("hi\r")
        program.wait_for(END)
        return program.cpu() - before


def _keys_while_streaming() -> tuple[list[float], float]:
    """Seconds from key to echo, and the longest gap between two paints while text streams."""
    server = ModelServer(lambda _: _reply("mixed Markdown", pace=1 / 300))
    with serving(server), tempfile.TemporaryDirectory() as home, _started(home, server.base_url) as program:
        program.settle(2.5)
        program.type("hi\r")
        program.wait_for("Section")
        program.gaps.clear()
        echoes = []
        for number in range(60):
            key = "QZXJ"[number % 4] * 3
            seen, begin = len(program.output), time.perf_counter()
            program.type(key)
            echoes.append(program.wait_for(key[-1], since=seen) - begin)
            end = time.perf_counter() + 0.1
            while time.perf_counter() < end:
                program.read(0.02)
        return echoes, max(program.gaps)


def _started(home: str, base_url: str) -> TerminalProgram:
    program = TerminalProgram(
        keen(base_url), folder=Path(home), environ={"KEEN_HOME": home, "PYTHONPATH": str(Path.cwd())}
    )
    program.wait_for(PROMPT_SIGN)
    return program
