"""A limit in time that stands still while a person is asked."""

from __future__ import annotations

import asyncio

import pytest

from keen_tui.system.time_limit import TimeLimit
from tests.support.loop_clock import LoopClock


async def test_it_runs_out() -> None:
    with pytest.raises(TimeoutError):
        async with TimeLimit(0.01).within():
            await asyncio.sleep(180)


async def test_without_seconds_there_is_none() -> None:
    limit = TimeLimit(None)
    async with limit.within():
        with limit.standing():
            await asyncio.sleep(0)


async def test_a_lifted_limit_runs_out_no_more_but_expires_when_told() -> None:
    clock, limit = LoopClock(), TimeLimit(100)
    with pytest.raises(TimeoutError):
        async with limit.within():
            limit.lift()
            await clock.move(1_000)
            limit.expire()
            await asyncio.sleep(180)


async def test_what_has_expired_before_it_began_runs_out_at_once() -> None:
    limit = TimeLimit(None)
    limit.expire()
    with pytest.raises(TimeoutError):
        async with limit.within():
            await asyncio.sleep(180)


async def test_while_somebody_is_asked_no_time_passes() -> None:
    clock, limit = LoopClock(), TimeLimit(100)
    async with limit.within():
        with limit.standing():
            with limit.standing():
                await clock.move(1_000)
            await clock.move(1_000)


async def test_it_goes_on_afterwards_with_what_was_left() -> None:
    clock, limit = LoopClock(), TimeLimit(100)
    async with limit.within():
        await clock.move(40)
        with limit.standing():
            await clock.move(1_000)
        await clock.move(20)
    with pytest.raises(TimeoutError):
        async with limit.within():
            await clock.move(60)
            await asyncio.sleep(180)


async def test_a_question_before_the_start_counts_too() -> None:
    clock, limit = LoopClock(), TimeLimit(100)
    with limit.standing():
        async with limit.within():
            await clock.move(1_000)


async def test_it_may_end_while_somebody_is_asked() -> None:
    limit = TimeLimit(180)
    with limit.standing():
        async with limit.within():
            pass


async def test_it_is_one_limit_for_several_times() -> None:
    clock, limit = LoopClock(), TimeLimit(100)
    async with limit.within():
        await clock.move(50)
    with pytest.raises(TimeoutError):
        async with limit.within():
            await clock.move(80)
            await asyncio.sleep(180)
