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


async def drained(pump: MessagePump) -> None:
    """Wait until a message pump has handled all that is in its queue now."""
    done = asyncio.Event()
    if pump.post_message(events.Callback(done.set)):  # `call_later` has Textual count parameters each time
        await done.wait()
