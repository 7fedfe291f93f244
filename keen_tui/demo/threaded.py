"""The model server in a thread with an event loop of its own, beside a program that runs in another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from keen_tui.demo.model_server import ModelServer


@contextmanager
def serving(server: ModelServer) -> Iterator[ModelServer]:
    """Serve until the block is left; inside it `server.base_url` answers."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with server:
            started.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="model-server", daemon=True)
    thread.start()
    loop, stop = started.result()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
