"""The message queues of widgets, screens and the app: whether one is at rest, and waiting until it has been
drained."""

from __future__ import annotations

import asyncio

from textual import events
from textual.message_pump import MessagePump


def is_at_rest(pump: MessagePump) -> bool:
    """Whether it is mounted, has handled every message, and waits for the next one."""
    ready: asyncio.Event = pump._message_queue.ready_event
    return bool(ready._waiters) and not ready.is_set()


async def drained(*pumps: MessagePump) -> None:
    """Wait until each of these, one after the other, has handled all that is in its queue then. One that is
    closed takes no more messages, and isn't waited for."""
    for pump in pumps:
        done = asyncio.Event()
        if pump.post_message(events.Callback(done.set)):  # `call_later` would inspect a signature each time
            await done.wait()
