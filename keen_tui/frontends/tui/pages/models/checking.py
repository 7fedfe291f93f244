"""Tests the connection to a model's server and says second by second how that goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from keen_tui.domain.errors import KeenError
from keen_tui.domain.models import ModelInfo
from keen_tui.frontends.shared.commands.models import server_of
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.text.units import duration

_Answer = TypeVar("_Answer")


async def tell_check(models: ModelsPort, say: Callable[[str], None], model: ModelInfo | None = None) -> None:
    """Test the connection for `model`, or for the one in use. Says each second how long the server has been
    asked, and at last the result."""
    try:
        say(await told(models.check(model), server_of(models, model or models.current), say))
    except KeenError as error:
        say(str(error))


async def told(answer: Awaitable[_Answer], server: str, say: Callable[[str], None]) -> _Answer:
    """Wait for the answer of a server, and say each second how long it has been asked."""
    began = time.monotonic()
    asking = asyncio.ensure_future(answer)
    try:
        while not asking.done():
            say(f"asking {server}   {duration(time.monotonic() - began, running=True)}")
            await asyncio.wait({asking}, timeout=1.0)
        return asking.result()
    finally:
        asking.cancel()
