"""Work in a thread that is waited for even by a task that was cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_Value = TypeVar("_Value")


async def in_thread_to_the_end(work: Callable[[], _Value]) -> _Value:
    """What `work` returns. If the task is cancelled meanwhile, the work goes on, and the cancellation is
    forgotten: for the end of what was cancelled already."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    while not doing.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({doing})
    return doing.result()
