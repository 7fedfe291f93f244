"""The APIs that the scripted model server speaks, by request path. A new one is one file and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from keen_tui.demo import anthropic_wire, chat_wire, responses_wire
from keen_tui.demo.script import RecordedRequest, Reply, Seen, WireEvent


class Wire(Struct, frozen=True):
    """One API from the server's side.

    `encode` gives the events of a reply to a request body, the n-th of the server; `read` what a model
    sees of a request body, the system prompt first.
    """

    encode: Callable[[Reply, Mapping[str, Any], int], list[WireEvent]]
    read: Callable[[Mapping[str, Any]], list[Seen]]


WIRES: Mapping[str, Wire] = {
    "/v1/messages": Wire(anthropic_wire.encode, anthropic_wire.read),
    "/v1/chat/completions": Wire(chat_wire.encode, chat_wire.read),
    "/v1/responses": Wire(responses_wire.encode, responses_wire.read),
}


def seen(request: RecordedRequest) -> list[Seen]:
    """The messages of a request, whatever API it came in."""
    return WIRES[request.path].read(request.body)
