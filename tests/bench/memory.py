"""The requests of three kinds of work over 12 and over 40 turns under each memory policy, and their cost."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from keen_tui.agent.turn.cache_reuse import common_beginning
from keen_tui.demo.script import RecordedRequest
from keen_tui.domain.choices import Api, PolicyName
from keen_tui.domain.events import ToolFinished, TurnDone
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.models import Price, cost_of
from keen_tui.providers.catalog.catalog import load_catalog
from tests.bench.memory_script import WORKS, Way, Work, lay_out, turns
from tests.bench.table import Row
from tests.support.agent import at_work

OUT = Path("out")
LENGTHS = (12, 40)
BYTES_PER_TOKEN = 4.0

APIS_AND_MODELS: Mapping[Api, tuple[str, str]] = {
    "anthropic": ("anthropic", "claude-opus-5"),
    "openai-responses": ("openai", "gpt-5.6-sol"),
}
"""The APIs that are played, each with the provider and the model for the prices."""

WAYS: Mapping[str, tuple[PolicyName, Way]] = {
    "summary": ("summary", "again"),
    "summary, recall": ("summary", "recall"),
    "in-band": ("in-band", "again"),
    "full-trace": ("full-trace", "sees"),
}
"""Each column: the policy, and how the model gets earlier output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The requests of a session: their number, their bytes, the bytes that a prompt cache could reuse, and
    the cost of the input in US dollars without a cache and with one. `read_again` and `run_again` count files
    and commands that an earlier turn had read or run already."""

    requests: int
    bytes: int
    reused: int
    cost: float
    cached_cost: float
    read_again: int
    run_again: int
    recalled: int


Results = Mapping[tuple[Api, Work, int, str], Sent]


def rows() -> Iterator[Row]:
    """Compares recall with repeating the work if earlier output is needed. Also prints and writes the
    tables."""
    results = measured()
    write(results, OUT)
    print(f"{markdown(results)}\n")
    for api in APIS_AND_MODELS:
        for length in LENGTHS:
            recall = results[api, "investigation", length, "summary, recall"]
            again = results[api, "investigation", length, "summary"]
            yield Row(
                what=f"an investigation of {length} turns with recall: input cost with a cache, {api}",
                value=recall.cached_cost,
                unit="$",
                reference=again.cached_cost,
                against="running again",
                budget=1.0,
            )


def measured() -> Results:
    """Play all sessions against the scripted server."""
    return {
        (api, work, length, way): asyncio.run(_played(api, work, length, way))
        for api in APIS_AND_MODELS
        for work in WORKS
        for length in LENGTHS
        for way in WAYS
    }


def markdown(results: Results) -> str:
    """A table for each API."""
    return "\n\n".join(_table(results, api) for api in APIS_AND_MODELS)


def write(results: Results, folder: Path) -> None:
    """Write memory.md and memory.json."""
    folder.mkdir(exist_ok=True)
    records = [
        {"api": api, "work": work, "turns": length, "way": way} | asdict(sent)
        for (api, work, length, way), sent in results.items()
    ]
    (folder / "memory.md").write_text(markdown(results) + "\n")
    (folder / "memory.json").write_text(json.dumps(records, indent=2) + "\n")


def _table(results: Results, api: Api) -> str:
    provider, model = APIS_AND_MODELS[api]
    lines = [
        f"{api}, prices of {provider}'s {model}",
        "",
        "| work | turns | memory | requests | sent | reusable | input cost | with a cache | read again | "
        "run again | recalls |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (of_api, work, length, way), sent in results.items():
        if of_api == api:
            cells = (
                work, str(length), way, str(sent.requests), f"{sent.bytes / 1e6:.2f} MB",
                f"{sent.reused / sent.bytes:.0%}", f"${sent.cost:.2f}", f"${sent.cached_cost:.2f}",
                str(sent.read_again), str(sent.run_again), str(sent.recalled),
            )  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


async def _played(api: Api, work: Work, length: int, way: str) -> Sent:
    policy, gets = WAYS[way]
    script = turns(work, length, gets, with_block=policy == "in-band")
    replies = [reply for turn in script for reply in turn.replies]
    with tempfile.TemporaryDirectory(prefix="keen-memory-") as folder:
        lay_out(Path(folder))
        async with at_work(replies, Path(folder), policy=policy, api=api) as bench:
            for turn in script:
                end = await bench.ask(turn.words)
                if not isinstance(end, TurnDone):
                    raise AssertionError(f"a turn of the script did not do its work: {end}")
            calls = bench.log.of(ToolFinished)
            if any(call.result.is_error for call in calls):
                raise AssertionError("a call of the script failed")
            return _sum(bench.server.requests, calls, api)


def _sum(requests: Sequence[RecordedRequest], calls: Sequence[ToolFinished], api: Api) -> Sent:
    price = _price(api)
    before, reused, cost, cached_cost = b"", 0, 0.0, 0.0
    for request in requests:
        body = _in_cache_order(request.raw, api)
        same = common_beginning(before, body)
        before, reused = body, reused + same
        cost += _cost(len(body), 0, price, writes=False)
        cached_cost += _cost(len(body), same, price, writes=api == "anthropic")
    return Sent(
        requests=len(requests),
        bytes=sum(len(request.raw) for request in requests),
        reused=reused,
        cost=cost,
        cached_cost=cached_cost,
        read_again=_done_again(calls, "read_file"),
        run_again=_done_again([call for call in calls if "measure" in call.target], "bash"),
        recalled=sum(call.name == "recall" for call in calls),
    )


def _done_again(calls: Sequence[ToolFinished], name: str) -> int:
    """The number of calls that repeat one of an earlier turn."""
    first: dict[str, int] = {}
    return sum(first.setdefault(call.target, call.turn) < call.turn for call in calls if call.name == name)


def _in_cache_order(raw: bytes, api: Api) -> bytes:
    """A request in the order in which the API's prompt cache reads it (see `Provider.in_cache_order`)."""
    if api != "anthropic":
        return raw
    body = json.loads(raw)
    parts = _without_marks((body.get("tools"), body.get("system"), body["messages"]))
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _without_marks(value: Any) -> Any:
    """The value without the cache marks, which move from request to request."""
    if isinstance(value, dict):
        return {name: _without_marks(each) for name, each in value.items() if name != "cache_control"}
    return [_without_marks(each) for each in value] if isinstance(value, list | tuple) else value


def _price(api: Api) -> Price:
    provider, model = APIS_AND_MODELS[api]
    models = load_catalog(Path("no additions")).providers[provider].models
    price = next(each.price for each in models if each.id == model)
    assert price
    return price


def _cost(whole: int, same: int, price: Price, *, writes: bool) -> float:
    tokens, cached = round(whole / BYTES_PER_TOKEN), round(same / BYTES_PER_TOKEN)
    used = TokenUsage(
        input_tokens=tokens,
        output_tokens=0,
        cached_tokens=cached,
        cache_write_tokens=tokens - cached if writes else 0,
    )
    return cost_of(used, price) or 0.0
