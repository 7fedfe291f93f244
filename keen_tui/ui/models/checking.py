"""Asking the model's server for a sign of life, told second by second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from keen_tui.errors import KeenError
from keen_tui.ui.measures import duration
from keen_tui.ui.port import ModelsPort


async def tell_check(models: ModelsPort, say: Callable[[str], None]) -> None:
    """Say each second how long the server has been asked, and at last what it was or why it failed."""
    began = time.monotonic()
    asking = asyncio.ensure_future(models.check())
    try:
        while not asking.done():
            seconds = duration(time.monotonic() - began, running=True)
            say(f"asking {_server(models)}   {seconds}")
            await asyncio.wait({asking}, timeout=1.0)
        say(asking.result())
    except KeenError as error:
        say(str(error))
    finally:
        asking.cancel()


def _server(models: ModelsPort) -> str:
    current = models.current
    names = (each.name for each in models.providers if current and each.id == current.provider)
    return next(names, "the server")
