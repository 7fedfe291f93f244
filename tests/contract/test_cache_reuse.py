"""The context view says how much of the next request a prompt cache can reuse, and what the input costs."""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from keen_tui.demo.script import Break, Call, RecordedRequest, Reply, Say
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.models import ModelInfo, Price
from keen_tui.domain.reports import POLICIES, CacheReuse, ContextReport
from keen_tui.providers.anthropic.messages import AnthropicMessages
from tests.support.agent import AtWork, Bench

WRITE = Call("write_file", {"path": "a.py", "content": "x = 1\n"})
OK = Reply([Say("Ok.")])
PRICE = Price(input=3.0, output=15.0, cached_input=0.3, cache_write=3.75)
INFO = ModelInfo(provider="p", id="scripted", api="openai-chat", price=PRICE)


def as_cached(request: RecordedRequest) -> bytes:
    """A request that the server received, in the order in which its API's cache reads it."""
    body = without_marks(request.body)
    ordered = [body["tools"], body["system"][0]["text"], body["messages"]] if "system" in body else body
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode()


def without_marks(value: Any) -> Any:
    """The marks for Anthropic's cache move from request to request, and belong to no text."""
    if isinstance(value, dict):
        return {name: without_marks(each) for name, each in value.items() if name != "cache_control"}
    return [without_marks(each) for each in value] if isinstance(value, list) else value


def received_alike(bench: Bench) -> int:
    """The bytes that the last two requests have in common from their beginning on."""
    return alike(*bench.server.requests[-2:])


def alike(one: RecordedRequest, other: RecordedRequest) -> int:
    """The bytes that two requests have in common from their beginning on."""
    pairs = zip(as_cached(one), as_cached(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def in_use(report: ContextReport) -> CacheReuse:
    return report.reuse[POLICIES.index(report.policy)]


async def test_what_is_reusable_is_what_the_server_gets_again(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    script = [Reply([Say("I write."), WRITE]), *[OK] * 3]
    async with at_work(script, tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        for words in ("u2 with ä", "u3"):
            report = await bench.session.context(words)
            await bench.ask(words)
            assert in_use(report).bytes == received_alike(bench)
            assert all(reuse.bytes for reuse in report.reuse), "each policy is compared with itself"


async def test_a_retry_reuses_the_kept_work(tmp_path: Path, at_work: AtWork) -> None:
    cut = Reply([Say("Now I")], broken=Break("reset"))
    async with at_work([Reply([WRITE]), Reply([WRITE]), cut, OK], tmp_path) as bench:
        await bench.ask("u1")
        before_the_cut = bench.server.requests[1]
        report = await bench.session.context()
        await bench.retry()
        assert in_use(report).bytes == alike(before_the_cut, bench.server.requests[-1])


async def test_nothing_is_reusable_before_the_first_request(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([OK], tmp_path, info=INFO) as bench:
        reuse = in_use(await bench.session.context("u1"))
        assert (reuse.bytes, reuse.tokens, reuse.reused_cost) == (None, None, None)
        assert reuse.cost


async def test_memory_that_was_edited_is_reused_only_up_to_the_edit(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([WRITE]), OK, OK, OK], tmp_path) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        untouched = in_use(await bench.session.context("u3")).bytes
        bench.session.edit_memory(1, TurnMemory(notes=("a.py is done",)))
        report = await bench.session.context("u3")
        assert untouched and 0 < (in_use(report).bytes or 0) < untouched
        await bench.ask("u3")
        assert in_use(report).bytes == received_alike(bench)


async def test_another_model_has_a_cache_of_its_own(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([OK, OK], tmp_path) as bench:
        await bench.ask("u1")
        bench.switch(model="another")
        assert [reuse.bytes for reuse in (await bench.session.context("u2")).reuse] == [0, 0, 0]


async def test_the_input_is_priced_with_the_cache_and_without(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([OK, OK], tmp_path, info=INFO) as bench:
        await bench.ask("u1")
        report = await bench.session.context("u2")
        for whole, reuse in zip(report.totals, report.reuse, strict=True):
            cached = reuse.tokens or 0
            assert 0 < cached < whole.tokens
            new = 3.75 if isinstance(bench.provider, AnthropicMessages) else 3.0
            assert reuse.cost == pytest.approx(whole.tokens * new / 1e6)
            assert reuse.reused_cost == pytest.approx((cached * 0.3 + (whole.tokens - cached) * new) / 1e6)


async def test_an_unknown_price_is_no_number(tmp_path: Path, at_work: AtWork) -> None:
    no_cached_price = replace(INFO, price=Price(input=3.0, output=15.0, cache_write=3.75))
    for info in (replace(INFO, price=None), no_cached_price):
        async with at_work([OK, OK], tmp_path, info=info) as bench:
            await bench.ask("u1")
            reuse = in_use(await bench.session.context("u2"))
            assert reuse.reused_cost is None
            assert (reuse.cost is None) == (info.price is None)
