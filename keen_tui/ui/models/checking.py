"""Tests the connection to a model's server and says second by second how that goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from keen_tui.errors import KeenError
from keen_tui.models import ModelInfo
from keen_tui.ui.measures import duration
from keen_tui.ui.port import ModelsPort


async def tell_check(models: ModelsPort, say: Callable[[str], None], model: ModelInfo | None = None) -> None:
    """Test the connection for `model`, or for the one in use. Says each second how long the server has been
    asked, and at last the result."""
    began = time.monotonic()
    asking = asyncio.ensure_future(models.check(model))
    try:
        while not asking.done():
            seconds = duration(time.monotonic() - began, running=True)
            say(f"asking {_server(models, model or models.current)}   {seconds}")
            await asyncio.wait({asking}, timeout=1.0)
        say(asking.result())
    except KeenError as error:
        say(str(error))
    finally:
        asking.cancel()


def _server(models: ModelsPort, model: ModelInfo | None) -> str:
    names = (each.name for each in models.providers if model and each.id == model.provider)
    return next(names, "the server")
