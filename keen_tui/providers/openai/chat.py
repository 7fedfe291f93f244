"""OpenAI Chat Completions, spoken by OpenAI and by most other model servers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any, ClassVar

from msgspec.structs import replace

from keen_tui.domain.choices import Api
from keen_tui.domain.messages import Image, NativeMessage, ToolCall, ToolResult, ToolSpec, ToolStep
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState
from keen_tui.providers.openai.chat_assembly import VENDOR_FIELDS, ChatAssembly
from keen_tui.providers.openai.client import OpenAIProvider
from keen_tui.providers.wire.arguments import sendable_calls
from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.images import data_url
from keen_tui.providers.wire.provider import Connection, StepRequest
from keen_tui.providers.wire.wire_text import mended


class OpenAIChat(OpenAIProvider):
    """Chat Completions. Some servers know neither token counts in streams nor reasoning efforts."""

    api: ClassVar[Api] = "openai-chat"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.options |= {"stream_options"} | ({"reasoning_effort"} if connection.effort else set())

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """One tool message for each call. It takes no images: their texts name the files that have them."""
        return tuple(
            {"role": "tool", "tool_call_id": call.id, "content": mended(result.text)}
            for call, result in batch
        )

    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """The messages with the text of every tool result replaced."""
        return tuple(
            {**message, "content": rewrite(message["content"])} if message["role"] == "tool" else message
            for message in messages
        )

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """Another model behind the same base URL takes it over, without the vendor's reasoning fields."""
        if same := super().adopt(pending, origin):
            return same
        if (origin.api, origin.base_url) != (self.api, self.connection.base_url):
            return None
        step = pending.open_step
        return replace(
            pending,
            traces=tuple(replace(trace, messages=_plain(trace.messages)) for trace in pending.traces),
            open_step=step and replace(step, native=_plain(step.native)),
        )

    def _assembly(self, request: StepRequest) -> ChatAssembly:
        return ChatAssembly(self.server, self.taken_ids(request))

    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        return await self._posted(stack, "/chat/completions", request)

    def _frame(self, request: StepRequest) -> dict[str, Any]:
        return {"model": self.model, "stream": True, **self._wanted(request.tools)}

    def _opening(self, request: StepRequest) -> Sequence[NativeMessage]:
        return ({"role": "system", "content": request.system},) if request.system else ()

    def _text(self, role: str, text: str) -> tuple[NativeMessage, ...]:
        return ({"role": role, "content": text},)

    def _image(self, image: Image) -> NativeMessage:
        return {"type": "image_url", "image_url": {"url": data_url(image)}}

    def _calls(self, step: ToolStep) -> tuple[NativeMessage, ...]:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call, name, arguments in sendable_calls(step)
        ]
        return ({"role": "assistant", "content": step.text or None, "tool_calls": calls},)

    def ids_in(self, message: NativeMessage) -> Iterator[str]:
        yield from (call["id"] for call in message.get("tool_calls") or ())

    def _wanted(self, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        values = {"stream_options": {"include_usage": True}, "reasoning_effort": self.connection.effort}
        options: dict[str, Any] = {name: value for name, value in values.items() if name in self.options}
        return options | ({"tools": [_wire_tool(tool) for tool in tools]} if tools else {})


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _plain(messages: Iterable[NativeMessage]) -> tuple[NativeMessage, ...]:
    """The messages without the fields of a vendor."""
    return tuple(map(_without_fields, messages))


def _without_fields(message: NativeMessage) -> NativeMessage:
    plain = {name: value for name, value in message.items() if name not in VENDOR_FIELDS}
    if calls := plain.get("tool_calls"):
        plain["tool_calls"] = [
            {name: value for name, value in call.items() if name not in VENDOR_FIELDS} for call in calls
        ]
    return plain
