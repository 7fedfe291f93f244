"""What a request needs and the SDKs import late."""

from __future__ import annotations


def load_anyio() -> None:
    """Import the parts of anyio that the SDK's client would import in the first request, on the event loop.
    Call it in a thread that runs no event loop."""
    import anyio  # noqa: PLC0415 - comes with the SDK

    for name in ("Event", "Lock", "connect_tcp"):  # each is imported when it is looked up
        getattr(anyio, name)
    anyio.run(anyio.sleep, 0)  # imports the part for asyncio
