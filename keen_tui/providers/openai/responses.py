"""The OpenAI Responses API. Nothing is stored on the server, so requests carry encrypted reasoning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any, ClassVar

from keen_tui.domain.choices import Api
from keen_tui.domain.messages import Image, NativeMessage, ToolCall, ToolResult, ToolSpec, ToolStep
from keen_tui.memory.projection import Part
from keen_tui.providers.openai.client import OpenAIProvider
from keen_tui.providers.openai.responses_assembly import ResponsesAssembly
from keen_tui.providers.wire.arguments import sendable_calls
from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.images import data_url, result_content, rewritten_content
from keen_tui.providers.wire.provider import SEARCH, Connection, StepRequest
from keen_tui.providers.wire.wire_text import mended

_REFUSALS = (
    (re.compile(r"web_search_call|action\.sources", re.IGNORECASE), {"sources"}),
    (re.compile(r"web.?search|tool type|\btools\[\d+\]\.type", re.IGNORECASE), {SEARCH}),
    (re.compile(r"not persisted|without its required", re.IGNORECASE), {"ids"}),
    (re.compile(r"encrypted|['\"`.]include\b|parameter:? include", re.IGNORECASE), {"include", "sources"}),
    (re.compile(r"effort", re.IGNORECASE), {"effort"}),
    (re.compile(r"summar", re.IGNORECASE), {"summary"}),
    (re.compile(r"reasoning", re.IGNORECASE), {"effort", "summary"}),
)
"""Patterns in the text of a refusal, and the option that each is about. The first match counts."""


class OpenAIResponses(OpenAIProvider):
    """The Responses API. An option that only some models take is left out once the server has refused it.

    Items go back unchanged, ids included, as the API's types demand. A server that looks up the ids in its
    own store gets the items without them.
    """

    api: ClassVar[Api] = "openai-responses"
    list_name: ClassVar[str] = "input"
    text_type: ClassVar[str] = "input_text"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        reasoning = set() if connection.reasons is False else {"include", "summary"}
        self.options |= {SEARCH, "sources"} if connection.searches else set()
        self.options |= {"ids"} | reasoning | ({"effort"} if connection.effort else set())

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """One output item for each call."""
        return tuple(
            {
                "type": "function_call_output",
                "call_id": call.id,
                "output": result_content(
                    mended(result.text),
                    result.images if self.takes_images else (),
                    self.text_type,
                    self._image,
                ),
            }
            for call, result in batch
        )

    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """The items with the text of every tool result replaced."""
        return tuple(
            {**item, "output": rewritten_content(item["output"], rewrite)}
            if item.get("type") == "function_call_output"
            else item
            for item in messages
        )

    def _assembly(self, request: StepRequest) -> ResponsesAssembly:
        return ResponsesAssembly(self.server, self.taken_ids(request))

    def _refused(self, refusal: str) -> set[str]:
        fitting = (options for words, options in _REFUSALS if words.search(refusal))
        return next(fitting, set())

    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        return await self._posted(stack, "/responses", request)

    def _frame(self, request: StepRequest) -> dict[str, Any]:
        """The fields besides the input, such as the system prompt."""
        return {"model": self.model, "stream": True, "store": False, **self._wanted(request)}

    def _messages(self, parts: Sequence[Part]) -> Sequence[NativeMessage]:
        items = super()._messages(parts)
        return items if "ids" in self.options else list(_without_ids(items))

    def _text(self, role: str, text: str) -> tuple[NativeMessage, ...]:
        return ({"type": "message", "role": role, "content": text},)

    def _image(self, image: Image) -> NativeMessage:
        return {"type": "input_image", "image_url": data_url(image), "detail": "auto"}

    def _calls(self, step: ToolStep) -> tuple[NativeMessage, ...]:
        calls = (
            {"type": "function_call", "call_id": call.id, "name": name, "arguments": arguments}
            for call, name, arguments in sendable_calls(step)
        )
        return (*(self._text("assistant", step.text) if step.text.strip() else ()), *calls)

    def ids_in(self, message: NativeMessage) -> Iterator[str]:
        if message.get("type") == "function_call":
            yield message["call_id"]

    def _may_search(self, request: StepRequest) -> bool:
        """Whether the model may search in this request: a turn's requests have tools."""
        return SEARCH in self.options and bool(request.tools)

    def _wanted(self, request: StepRequest) -> dict[str, Any]:
        """Further options of the request."""
        wanted: dict[str, Any] = {}
        if request.system:
            wanted["instructions"] = mended(request.system)
        if request.tools:
            search = [{"type": "web_search"}] if self._may_search(request) else []
            wanted["tools"] = [*map(_wire_tool, request.tools), *search]
        has_sources = "sources" in self.options and self._may_search(request)
        sources = ["web_search_call.action.sources"] if has_sources else []
        included = ["reasoning.encrypted_content"] if "include" in self.options else []
        if included or sources:
            wanted["include"] = [*included, *sources]
        values = {"effort": self.connection.effort, "summary": "auto"}
        if reasoning := {name: value for name, value in values.items() if name in self.options}:
            wanted["reasoning"] = reasoning
        return wanted


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _without_ids(items: Iterable[NativeMessage]) -> Iterator[NativeMessage]:
    """The items without ids; reasoning that is only a reference is left out."""
    for item in items:
        if item.get("type") != "reasoning" or item.get("encrypted_content") or item.get("content"):
            yield {name: value for name, value in item.items() if name != "id"}
