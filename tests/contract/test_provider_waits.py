"""Waits: between attempts, for a connection, for a first byte. Rows P01, P02, P04, P08, P14 and P32."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn.retries import RetryPolicy
from keen_tui.demo.script import Answer, Break, Fail, NoAnswer, Reply
from keen_tui.domain.errors import ServerBusy, SessionRefused
from keen_tui.domain.events import (
    ApprovalRequested,
    Compacted,
    RetryScheduled,
    StepRestarted,
    TextDelta,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from tests.support.agent import AtWork, Bench
from tests.support.faults import DONE, WORK, refused, runs
from tests.support.waiting import one_round, until, until_idle

EVEN = RetryPolicy(attempts=4, first_delay=0.001, rate_limit_wait=0.13, jitter=lambda: 0.5)
FIRST_RATE_LIMIT = 0.13 / 13 * 0.875
"""What EVEN waits first for a rate limit: the waits are as 1 to 3 to 9, and jitter takes up to a quarter."""


async def delay_told(bench: Bench) -> float | None:
    """The wait that the first refusal leads to, left at once; None when the turn just ends."""
    bench.session.submit("go")
    await until(lambda: bench.log.ends or bench.log.of(RetryScheduled), moment=one_round)
    bench.session.stop()
    await until_idle(bench.session)
    await bench.log.wait_for_end()
    waits = bench.log.of(RetryScheduled)
    return waits[0].delay if waits else None


async def test_p01_the_wait_the_server_asks_for_is_told_kept_and_left_by_esc(
    tmp_path: Path, at_work: AtWork
) -> None:
    busy = refused(429, "slow down", {"Retry-After": "2"})
    async with at_work([busy, DONE], tmp_path, retries=EVEN) as bench:
        assert await delay_told(bench) == 2
        (wait,) = bench.log.of(RetryScheduled)
        assert (wait.reason, wait.attempt, wait.max_attempts) == ("provider", 2, 4)
        assert "slow down" in wait.detail
        assert isinstance(bench.log.ends[0], TurnError)
        assert bench.log.ends[0].reason == "interrupted"
        assert isinstance(await bench.retry(), TurnDone)
        assert [message.text for message in bench.messages()] == ["go"]


async def test_p01_slow_down_twice_and_then_fine(tmp_path: Path, at_work: AtWork) -> None:
    busy = refused(429, "slow down", {"retry-after-ms": "20"})
    async with at_work([busy, busy, DONE], tmp_path, retries=EVEN) as bench:
        before = time.monotonic()
        assert isinstance(await bench.ask("go"), TurnDone)
        assert time.monotonic() - before >= 0.04, "both waits were waited"
        assert [event.attempt for event in bench.log.of(RetryScheduled)] == [2, 3]
        users = [message for message in bench.session.conversation if message.role == "user"]
        assert len(users) == 1


@pytest.mark.parametrize(
    ("headers", "delay"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "120"}, 120),
        ({"Retry-After": "-5"}, FIRST_RATE_LIMIT),
        ({"Retry-After": "soon"}, FIRST_RATE_LIMIT),
        ({"Retry-After": "nan"}, FIRST_RATE_LIMIT),
        ({"Retry-After": formatdate(0, usegmt=True)}, FIRST_RATE_LIMIT),
        ({"Retry-After": "1000000000"}, None),
    ],
)
async def test_p02_a_wait_is_understood_in_every_form(
    tmp_path: Path, at_work: AtWork, headers: dict[str, str], delay: float | None
) -> None:
    async with at_work(
        [refused(429, "slow down", headers), NoAnswer("stall")], tmp_path, retries=EVEN
    ) as bench:
        told = await delay_told(bench)
        assert told == (None if delay is None else pytest.approx(delay))
        assert "1000000000 s" in bench.log.ends[0].detail or delay  # type: ignore[union-attr]


async def test_p02_a_wait_may_be_a_date(tmp_path: Path, at_work: AtWork) -> None:
    busy = refused(429, "slow down", {"Retry-After": formatdate(time.time() + 60, usegmt=True)})
    async with at_work([busy], tmp_path, retries=EVEN) as bench:
        delay = await delay_told(bench)
        assert delay is not None and 0 < delay <= 60


async def test_a_rate_limit_is_waited_for_until_the_user_wants_it_tried_now(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([refused(429, "slow down"), DONE], tmp_path, retries=RetryPolicy()) as bench:
        bench.session.submit("go")
        wait = await bench.log.wait_for(RetryScheduled)
        assert wait.delay > 4
        with pytest.raises(SessionRefused):
            bench.session.discard()
        bench.session.retry()
        assert isinstance(await bench.log.wait_for_end(), TurnDone)
        assert len(bench.log.of(StepRestarted)) == 1
        with pytest.raises(SessionRefused):
            bench.session.retry()


async def test_the_wait_of_a_summary_can_be_ended_too(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [DONE, refused(429, "slow down"), DONE]
    async with at_work(script, tmp_path, retries=RetryPolicy()) as bench:
        await bench.ask("go")
        bench.session.compact()
        await bench.log.wait_for(RetryScheduled)
        bench.session.retry()
        assert isinstance(await bench.log.wait_for_compaction(), Compacted)


async def test_a_rate_limit_inside_a_stream_and_one_of_google_with_its_own_wait(
    tmp_path: Path, at_work: AtWork
) -> None:
    limit = Reply([Fail("too many tokens", type="rate_limit_error", code="rate_limit_exceeded")])
    delays = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}]
    google = refused(429, "quota", details=delays, code="RESOURCE_EXHAUSTED")
    async with at_work([limit, google, DONE], tmp_path, retries=EVEN) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        waits = [event.delay for event in bench.log.of(RetryScheduled)]
        assert waits == [pytest.approx(FIRST_RATE_LIMIT), 0.02]


@pytest.mark.parametrize("attempts", [2, 4, 10])
def test_all_waits_for_a_rate_limit_are_two_minutes_at_most(attempts: int) -> None:
    policy = RetryPolicy(attempts=attempts, jitter=lambda: 1.0)
    limit = ServerBusy("slow down", rate_limited=True)
    waits = [policy.delay(attempt, limit) or 0.0 for attempt in range(1, attempts)]
    assert 60 <= sum(waits) <= 120.001 and waits == sorted(waits)
    assert policy.delay(attempts, limit) is None


@pytest.mark.parametrize("first", [[], [WORK]], ids=["first step", "after a step"])
async def test_p04_after_the_last_attempt_it_is_given_up(
    tmp_path: Path, at_work: AtWork, first: list[Answer]
) -> None:
    statuses = [refused(status, "overloaded") for status in (500, 502, 503, 529)]
    async with at_work([*first, *statuses, DONE], tmp_path, retries=EVEN) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnIncomplete if first else TurnError)
        assert [event.attempt for event in bench.log.of(RetryScheduled)] == [2, 3, 4]
        assert [event.delay for event in bench.log.of(RetryScheduled)] == [0.001, 0.002, 0.004]
        assert isinstance(await bench.retry(), TurnDone)
        bench.assert_valid_requests()


async def test_p14_a_late_first_byte_is_no_fault(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([replace(DONE, wait=0.4)], tmp_path) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert len(bench.server.requests) == 1


async def test_p32_waits_and_durations_do_not_follow_the_wall_clock(
    tmp_path: Path, at_work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = itertools.cycle([4e9, 0.0, 2e9, -86_400.0])
    seconds = itertools.count()
    cut = replace(DONE, broken=Break("close", after_deltas=1))
    async with at_work([WORK, cut, DONE], tmp_path, retries=EVEN, clock=lambda: next(seconds)) as bench:
        monkeypatch.setattr("time.time", lambda: next(jumps))
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert 0 < end.seconds <= next(seconds)
        assert [event.delay for event in bench.log.of(RetryScheduled)] == [0.001]
        assert runs(tmp_path) == "ran\n"


# What can't be reached (P08)


@asynccontextmanager
async def speaking(words: bytes) -> AsyncIterator[str]:
    """A server that says those words whatever it is asked. Gives host:port."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(words)
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def assert_unreachable(bench: Bench, base_url: str, address: str, why: str) -> None:
    """The message stays, the sentence names host and port, and with the right address it goes out once."""
    bench.switch(base_url=base_url)
    end = await bench.ask("go")
    assert isinstance(end, TurnError)
    assert end.reason == "network"
    assert address in end.detail and why in end.detail and "\n" not in end.detail
    assert bench.server.requests == []
    bench.switch()
    assert isinstance(await bench.retry(), TurnDone)
    assert [message.text for message in bench.messages()] == ["go"]


async def test_p08_an_unknown_name(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE], tmp_path) as bench:
        url = "http://no-such-host.invalid/v1"
        await assert_unreachable(bench, url, "no-such-host.invalid:80", "name is not known")


async def test_p08_a_refused_connection(tmp_path: Path, at_work: AtWork, unused_tcp_port: int) -> None:
    async with at_work([DONE], tmp_path) as bench:
        address = f"127.0.0.1:{unused_tcp_port}"
        await assert_unreachable(bench, f"http://{address}/v1", address, "refused")


async def test_p08_a_server_without_tls(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([DONE], tmp_path) as bench, speaking(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        await assert_unreachable(bench, f"https://{address}/v1", address, "doesn't speak TLS")
        assert not bench.log.of(RetryScheduled)


async def test_p08_an_answer_that_is_not_http_was_reached_and_is_not_tried_again(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([DONE], tmp_path) as bench, speaking(b"\x15\x03\x01\x00\x02\x02\x46") as address:
        await assert_unreachable(bench, f"http://{address}/v1", address, "answered, but not in HTTP")
        assert not bench.log.of(RetryScheduled)


async def test_p08_a_plain_server_that_waits_for_more_is_not_tried_again_with_tls(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([DONE], tmp_path, retries=RetryPolicy()) as bench:
        address = bench.server.base_url.removeprefix("http://").partition("/")[0]
        bench.switch(base_url=f"https://{address}/v1", connect_seconds=0.2)
        end = await bench.ask("go")
        assert isinstance(end, TurnError)
        assert "didn't answer in TLS" in end.detail and "http://" in end.detail
        assert not bench.log.of(RetryScheduled)


async def test_p08_a_proxy_that_wants_a_password(
    tmp_path: Path, at_work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
    async with at_work([DONE], tmp_path) as bench, speaking(refusal) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        await assert_unreachable(bench, "https://model.invalid/v1", "model.invalid:443", "407")


async def test_p08_a_server_that_goes_away_in_the_midst_of_a_turn_and_comes_back(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([WORK, DONE], tmp_path, mode="ask") as bench:
        bench.session.submit("go")
        question = await bench.log.wait_for(ApprovalRequested)
        await bench.server.stop()
        bench.session.answer(question.id, allow=True)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert (end.reason, end.calls) == ("network", 1)
        assert "Can't reach 127.0.0.1" in end.detail
        await bench.server.start()
        assert isinstance(await bench.retry(), TurnDone)
        assert runs(tmp_path) == "ran\n"
        bench.assert_valid_requests()


async def test_p08_text_is_shown_until_the_line_breaks(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([replace(DONE, broken=Break("stall", after_deltas=1)), DONE], tmp_path) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(TextDelta)
        await bench.server.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnError)
        assert end.reason == "cut"
        await bench.server.start()
        assert isinstance(await bench.retry(), TurnDone)
