"""What sub-agents cost: to start one, and four that stream at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, RecordedRequest, Reply, Say
from keen_tui.demo.threaded import serving
from keen_tui.demo.wires import seen
from tests.bench.key_echo import echo_rows, echoes
from tests.bench.programs import workspace
from tests.bench.streaming import DELTA_SIZE, PACE, sdk_alone, text
from tests.bench.table import Row

AT_ONCE = 4
"""Sub-agents that run at once, as the setting has it."""
_MANY = 16
_END = "ALL-OF-THEM-ARE-DONE"
_HANG = Reply([Say("Waiting")], broken=Break("stall"))


def rows() -> Iterator[Row]:
    """The start, then a stream of each of four, at full speed and with keys pressed."""
    yield from _starts()
    whole = Reply([Say(text("mixed Markdown", 1_250))], delta_size=DELTA_SIZE)
    with serving(_server(whole, AT_ONCE)) as server, workspace(server.base_url) as program:
        before = program.cpu()
        program.type("go\r")
        program.wait_for(_END)
        spent = program.cpu() - before
    yield Row(
        what="four sub-agents, 1,250 deltas each at full speed",
        value=spent,
        unit="s CPU",
        reference=sum(sdk_alone(whole) for _ in range(AT_ONCE)),
        against="the SDK alone, four times",
        budget=2.0,
    )
    paced = Reply([Say(text("mixed Markdown", 1_250))], delta_size=DELTA_SIZE, pace=AT_ONCE / PACE)
    with serving(_server(paced, AT_ONCE)) as server, workspace(server.base_url) as program:
        program.type("go\r")
        program.wait_until(lambda: len(server.requests) > AT_ONCE, "all sub-agents", seconds=60)
        keys = list(echoes(program, lambda _: bool(server.open_streams), pause=0.1))
    yield from echo_rows("four sub-agents, 300 deltas/s together", keys, 33)


def _starts() -> Iterator[Row]:
    """The whole turn of a sub-agent that says one word, and the memory of one that waits."""
    with serving(_server(Reply([Say("Done.")]), _MANY)) as server, workspace(server.base_url) as program:
        program.type("plain\r")
        program.wait_for("Plain.")
        before = program.loop_cpu()
        program.type("go\r")
        program.wait_for(_END)
        spent = program.loop_cpu() - before
    yield Row(
        what="a sub-agent that says one word, from its start to its result: event loop",
        value=spent / _MANY * 1000,
        unit="ms CPU",
        budget=20,
    )
    with serving(_server(_HANG, AT_ONCE)) as server, workspace(server.base_url) as program:
        program.type("plain\r")
        program.wait_for("Plain.")
        program.come_to_rest(1.0)
        before = program.rss()
        program.type("go\r")
        program.wait_until(lambda: len(server.requests) == AT_ONCE + 2, "all sub-agents", seconds=60)
        program.come_to_rest(1.0)
        grown = program.rss() - before
    yield Row(what="memory of a sub-agent", value=grown / AT_ONCE, unit="MB", budget=15)


def _server(answer: Reply, count: int) -> ModelServer:
    """A parent that calls so many sub-agents, each of which gets this answer."""
    prompts = [f"look {number}" for number in range(count)]
    calls: Sequence[Call] = [Call("task", {"agent": "explore", "prompt": prompt}) for prompt in prompts]

    def reply(request: RecordedRequest) -> Answer:
        last = seen(request)[-1]
        if last.role == "tool":
            return Reply([Say(_END)])
        if last.text.startswith("look"):
            return answer
        return Reply([Say("Plain.")]) if last.text == "plain" else Reply([*calls])

    return ModelServer(reply)
