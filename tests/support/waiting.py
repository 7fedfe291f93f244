"""Waiting for a state of the machine, on which other programs work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.support.agent import LIMIT


async def until(holds: Callable[[], bool]) -> None:
    """Look again and again until it holds. Raises TimeoutError when it never does."""
    async with asyncio.timeout(4 * LIMIT):
        while not holds():
            await asyncio.sleep(0.05)
