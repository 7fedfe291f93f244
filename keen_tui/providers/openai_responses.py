"""The OpenAI Responses API: nothing is stored on the server, so reasoning travels along encrypted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any, ClassVar

from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.rendering import AssistantText, NativeTrace, UserText, project
from keen_tui.messages import NativeMessage, ToolCall, ToolResult, ToolSpec
from keen_tui.models import Api
from keen_tui.providers.base import Connection, StepRequest
from keen_tui.providers.event_reader import EventReader
from keen_tui.providers.openai_client import OpenAIProvider
from keen_tui.providers.responses_assembly import ResponsesAssembly
from keen_tui.providers.wire_text import mended, mended_json

_REFUSALS = (
    (re.compile(r"not persisted|without its required", re.IGNORECASE), {"ids"}),
    (re.compile(r"encrypted|['\"`.]include\b|parameter:? include", re.IGNORECASE), {"include"}),
    (re.compile(r"effort", re.IGNORECASE), {"effort"}),
    (re.compile(r"summar", re.IGNORECASE), {"summary"}),
    (re.compile(r"reasoning", re.IGNORECASE), {"effort", "summary"}),
)
"""What the words of a refusal say about options. The first that fits counts."""


class OpenAIResponses(OpenAIProvider):
    """The Responses API. Options that only some models take are left out once they were refused.

    Items go back as they came, ids included, as the API's types demand. A server that looks for the ids
    among what it stored gets the items without them.
    """

    api: ClassVar[Api] = "openai-responses"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        reasoning = set() if connection.reasons is False else {"include", "summary"}
        self._options = {"ids"} | reasoning | ({"effort"} if connection.effort else set())

    def load(self) -> None:
        """Import the SDK. Blocking (a second or more): call it in a thread. Safe to call twice."""
        import openai.resources.responses.responses  # noqa: F401, PLC0415 - the package alone is lazy

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """One output item for each call."""
        return tuple(
            {"type": "function_call_output", "call_id": call.id, "output": mended(result.text)}
            for call, result in batch
        )

    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """The items with the text of every tool result replaced."""
        return tuple(
            {**item, "output": rewrite(item["output"])}
            if item.get("type") == "function_call_output"
            else item
            for item in messages
        )

    def _assembly(self, request: StepRequest) -> ResponsesAssembly:
        return ResponsesAssembly(self.server, _ids_in(request.traces))

    def _refused(self, refusal: str) -> set[str]:
        fitting = (options for words, options in _REFUSALS if words.search(refusal))
        return next(fitting, set())

    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        items = list(input_items(request))
        if "ids" not in self._options:
            items = list(_without_ids(items))
        create = self._client().responses.with_streaming_response.create
        sending = create(
            model=self.model,
            input=mended_json(items),
            stream=True,
            store=False,
            **self._without_key(),
            **self._wanted(request),
        )
        return await self._reader(stack, sending)

    def _wanted(self, request: StepRequest) -> dict[str, Any]:
        """What is asked for besides."""
        wanted: dict[str, Any] = {}
        if request.system:
            wanted["instructions"] = mended(request.system)
        if request.tools:
            wanted["tools"] = [_wire_tool(tool) for tool in request.tools]
        if "include" in self._options:
            wanted["include"] = ["reasoning.encrypted_content"]
        values = {"effort": self.connection.effort, "summary": "auto"}
        if reasoning := {name: value for name, value in values.items() if name in self._options}:
            wanted["reasoning"] = reasoning
        return wanted


def input_items(request: StepRequest) -> Iterator[NativeMessage]:
    """The input of the request, in order; the system prompt is no part of it."""
    for part in project(request.conversation, request.traces):
        match part:
            case UserText(text):
                yield {"type": "message", "role": "user", "content": text}
            case AssistantText(text):
                yield {"type": "message", "role": "assistant", "content": text}
            case NativeTrace(items):
                yield from items


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _ids_in(traces: Iterable[PendingTrace]) -> Iterator[str]:
    for trace in traces:
        yield from (item["call_id"] for item in trace.messages if item.get("type") == "function_call")


def _without_ids(items: Iterable[NativeMessage]) -> Iterator[NativeMessage]:
    """The items as values of their own; reasoning that is nothing but a reference is left out."""
    for item in items:
        if item.get("type") != "reasoning" or item.get("encrypted_content") or item.get("content"):
            yield {name: value for name, value in item.items() if name != "id"}
