"""Stands in for a provider while no model is chosen, and says what to do about it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Any

from keen_tui.domain.errors import RequestRefused
from keen_tui.domain.messages import NativeMessage, ToolCall, ToolResult
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState
from keen_tui.memory.projection import Part
from keen_tui.providers.wire.provider import StepPart, StepRequest


class NotConfigured:
    """A provider that refuses every request with the same sentence."""

    model = "no model"
    server = ""
    effort = ""
    takes_images = True
    writes_cache = False
    lacks_search = False
    identity = Identity(api="openai-chat", base_url="", model="")

    def __init__(self, missing: str) -> None:
        self.pending: PendingState | None = None
        self._missing = missing

    def load(self) -> None:
        """There is nothing to load."""

    async def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        """Refuse. Raises RequestRefused."""
        raise RequestRefused(self._missing)
        yield  # makes this a generator, as the contract demands

    def native(self, part: Part) -> tuple[NativeMessage, ...]:
        """There is no API to speak."""
        return ()

    def body(self, request: StepRequest) -> Mapping[str, Any]:
        """Nothing is sent."""
        return {}

    def encoded(self, request: StepRequest) -> bytes:
        """Nothing is sent."""
        return b""

    def in_cache_order(self, request: StepRequest) -> bytes:
        """Nothing is sent."""
        return b""

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """No reply ever asks for a tool."""
        return ()

    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """There are no results."""
        return tuple(messages)

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """Nothing can be sent, so nothing is taken over."""
        return None

    def sibling(self, *, searches: bool) -> NotConfigured:
        """Another one."""
        return NotConfigured(self._missing)

    async def close(self) -> None:
        """There is nothing to close."""
