"""A limit in time that stands still while a person is asked."""

from __future__ import annotations

import asyncio

import pytest

from keen_tui.tools.time_limit import TimeLimit


async def test_it_runs_out() -> None:
    with pytest.raises(TimeoutError):
        async with TimeLimit(0.01).within():
            await asyncio.sleep(180)


async def test_without_seconds_there_is_none() -> None:
    limit = TimeLimit(None)
    async with limit.within():
        with limit.standing():
            await asyncio.sleep(0)


async def test_while_somebody_is_asked_no_time_passes() -> None:
    limit = TimeLimit(0.05)
    async with limit.within():
        with limit.standing():
            with limit.standing():
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.1)


async def test_it_goes_on_afterwards_with_what_was_left() -> None:
    limit = TimeLimit(0.05)
    with pytest.raises(TimeoutError):
        async with limit.within():
            with limit.standing():
                await asyncio.sleep(0.1)
            await asyncio.sleep(180)


async def test_a_question_before_the_start_counts_too() -> None:
    limit = TimeLimit(0.05)
    with limit.standing():
        async with limit.within():
            await asyncio.sleep(0.1)


async def test_it_may_end_while_somebody_is_asked() -> None:
    limit = TimeLimit(180)
    with limit.standing():
        async with limit.within():
            pass


async def test_it_is_one_limit_for_several_times() -> None:
    limit = TimeLimit(0.2)
    async with limit.within():
        await asyncio.sleep(0.1)
    with pytest.raises(TimeoutError):
        async with limit.within():
            await asyncio.sleep(0.15)
