"""OpenAI Chat Completions, spoken by OpenAI and by most other model servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from keen_tui.errors import AuthFailed, ProviderError, RequestRefused
from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.memory.rendering import AssistantText, NativeTrace, UserText, project
from keen_tui.messages import NativeMessage, ToolCall, ToolResult, ToolSpec
from keen_tui.providers.base import StepPart, StepReasoning, StepRequest, StepText
from keen_tui.providers.chat_assembly import ChatAssembly
from keen_tui.providers.event_reader import EventReader, parse_event
from keen_tui.providers.sdk_errors import ErrorTranslator, host_and_port
from keen_tui.providers.sse import ServerSentEvent
from keen_tui.providers.wire_text import mended, mended_json

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"

AFTER_FINISH = 5.0
"""Seconds to wait for the token counts once the reply is complete."""

AFTER_DONE = 0.25
"""Seconds to wait for the end of the body after `[DONE]`, so that the connection can be used again."""


class OpenAIChat:
    """A client of one model behind one base URL.

    Args:
        base_url: None for OpenAI itself.
        api_key: "" sends none, as local servers want it.
        key_source: where the key came from, for messages ("OPENAI_API_KEY").
        stall_seconds: without a byte for so long, a reply counts as stalled.
        connect_seconds: limit for making the connection.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str = "",
        key_source: str = "OPENAI_API_KEY",
        stall_seconds: float = 180.0,
        connect_seconds: float = 10.0,
    ) -> None:
        self.model = model
        self.pending: PendingState | None = None
        self._base_url = base_url or OPENAI_URL
        self._key = api_key.strip()
        self._stall_seconds = stall_seconds
        self._connect_seconds = connect_seconds
        self.server, address = host_and_port(self._base_url)
        self._errors = ErrorTranslator(
            server=self.server,
            address=address,
            key_source=key_source,
            key=self._key,
            stall_seconds=stall_seconds,
        )
        self._sdk: AsyncOpenAI | None = None
        self._asks_for_usage = True

    def load(self) -> None:
        """Import the SDK. Blocking (a second or more): call it in a thread. Safe to call twice."""
        import openai.resources.chat  # noqa: F401, PLC0415

    async def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        """One model call, as `Provider.stream_step` says."""
        assembly = ChatAssembly(self.server, _ids_in(request.traces))
        in_body = False
        try:
            async with AsyncExitStack() as stack:
                reader = await self._open(stack, request)
                in_body = True
                while (events := await self._read(reader, assembly)) is not None:
                    for event in events:
                        for part in self._take(event, assembly):
                            yield part
            reply = assembly.finish()
        except Exception as error:
            raise self._errors.translated(error, in_body=in_body) from None
        yield reply

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """One tool message for each call."""
        return tuple(
            {"role": "tool", "tool_call_id": call.id, "content": mended(result.text)}
            for call, result in batch
        )

    async def close(self) -> None:
        """Close connections. A later call opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    async def _open(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        """Send the request. Some servers refuse `stream_options`: those are asked without it from then on."""
        try:
            return await self._send(stack, request)
        except Exception as error:
            refusal = self._errors.translated(error, in_body=False)
            refused_option = isinstance(refusal, RequestRefused) and "stream_options" in str(refusal)
            if not (refused_option and self._asks_for_usage):
                raise
        self._asks_for_usage = False
        return await self._send(stack, request)

    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        create = self._client().chat.completions.with_streaming_response.create
        sending = create(
            model=self.model,
            messages=mended_json(list(chat_messages(request))),
            stream=True,
            **self._options(request.tools),
        )
        response = await stack.enter_async_context(sending)
        return EventReader(response.iter_bytes(), response.headers.get("content-type", ""), self.server)

    def _options(self, tools: Sequence[ToolSpec]) -> dict[str, Any]:
        from openai import Omit  # noqa: PLC0415

        options: dict[str, Any] = {} if self._key else {"extra_headers": {"Authorization": Omit()}}
        if tools:
            options["tools"] = [_wire_tool(tool) for tool in tools]
        if self._asks_for_usage:
            options["stream_options"] = {"include_usage": True}
        return options

    async def _read(self, reader: EventReader, assembly: ChatAssembly) -> Sequence[ServerSentEvent] | None:
        """The next events. Once the reply is complete, no failure matters any more."""
        if not assembly.complete:
            return await reader.read(None)
        try:
            return await reader.read(AFTER_DONE if assembly.closed else AFTER_FINISH)
        except Exception:
            return None

    def _take(self, event: ServerSentEvent, assembly: ChatAssembly) -> Sequence[StepText | StepReasoning]:
        data = event.data.strip()
        if data == "[DONE]":
            assembly.done()
        elif data and not assembly.closed:
            try:
                chunk = parse_event(event, self.server)
                return assembly.feed({"error": chunk} if event.name == "error" else chunk)
            except ProviderError:
                if not assembly.complete:
                    raise
        return ()

    def _client(self) -> AsyncOpenAI:
        if self._sdk is None:
            if not (self._key.isascii() and self._key.isprintable()):
                raise AuthFailed("The key can't be sent: it holds characters that no key has.")
            self._sdk = self._connected()
        return self._sdk

    def _connected(self) -> AsyncOpenAI:
        import httpx2  # noqa: PLC0415
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

        timeout = httpx2.Timeout(self._stall_seconds, connect=self._connect_seconds)
        return AsyncOpenAI(
            api_key=self._key or "none",  # the SDK wants one, even when none is sent
            base_url=self._base_url,
            max_retries=0,
            timeout=timeout,
            # A redirect could carry the key to another host, a proxy has no business with loopback.
            http_client=DefaultAsyncHttpxClient(
                timeout=timeout, follow_redirects=False, trust_env=not _is_loopback(self._base_url)
            ),
        )


def chat_messages(request: StepRequest) -> Iterator[NativeMessage]:
    """The messages of the request, in order, the system prompt first."""
    if request.system:
        yield {"role": "system", "content": request.system}
    for part in project(request.conversation, request.traces):
        match part:
            case UserText(text):
                yield {"role": "user", "content": text}
            case AssistantText(text):
                yield {"role": "assistant", "content": text}
            case NativeTrace(messages):
                yield from messages


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _ids_in(traces: Iterable[PendingTrace]) -> Iterator[str]:
    for trace in traces:
        for message in trace.messages:
            yield from (call["id"] for call in message.get("tool_calls") or ())


def _is_loopback(base_url: str) -> bool:
    try:
        host = urlsplit(base_url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
