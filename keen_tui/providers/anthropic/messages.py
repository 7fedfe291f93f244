"""The Anthropic Messages API: thinking goes back signed and unmodified, stable prefixes are cached."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from keen_tui.domain.choices import Api
from keen_tui.domain.errors import ReplyUnreadable
from keen_tui.domain.messages import (
    Image,
    NativeMessage,
    StepReply,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolStep,
)
from keen_tui.memory.projection import NativeTrace, Part
from keen_tui.providers.anthropic.assembly import AnthropicAssembly, PausedReply
from keen_tui.providers.anthropic.searches import open_searches
from keen_tui.providers.wire.arguments import sendable_name
from keen_tui.providers.wire.encoding import compact_json
from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.http_provider import HttpProvider, reader_of
from keen_tui.providers.wire.images import base64_of, result_content, rewritten_content
from keen_tui.providers.wire.key_headers import only_key
from keen_tui.providers.wire.lazy_packages import lazy_packages
from keen_tui.providers.wire.provider import SEARCH, Connection, StepPart, StepRequest
from keen_tui.providers.wire.wire_text import mended, mended_json

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

OUTPUT_LIMIT = 8_192
"""Tokens that a reply may have if the model's own limit isn't known. The API demands a number."""

LONGEST_OUTPUT = 32_000
"""The most tokens that are requested: a coding step needs no more, and rate limits count requested tokens."""

PAUSES = 3
"""How often a paused turn is continued (turn.md, "What each API demands")."""

_THINKING_TOKENS = {"low": 2_048, "medium": 8_192, "high": 16_384}
_MOST_THINKING = 24_576
_ROOM_TO_ANSWER = 1_024
_SMALLEST_BUDGET = 1_024

SEARCHES = 8
"""The most searches of one reply."""

_REFUSALS = (
    (re.compile(r"web.?search|\btools\.\d+\.type", re.IGNORECASE), {SEARCH}),
    (re.compile(r"adaptive", re.IGNORECASE), {"adaptive"}),
    (re.compile(r"output_config|effort", re.IGNORECASE), {"effort"}),
    (re.compile(r"thinking|budget", re.IGNORECASE), {"adaptive", "budget"}),
    (re.compile(r"cache_control", re.IGNORECASE), {"cache"}),
)
"""Patterns in the text of a refusal, and the option that each is about. The first match counts."""

_SEARCH_TOOL = {"type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES}

_LIMIT_NAMED = re.compile(r"max_tokens: \d+ > (\d+)")


class AnthropicMessages(HttpProvider):
    """The Messages API. An option that only some models take is left out once the server has refused it.

    With an effort the model decides how much to think ("adaptive"); models that can't get a budget of
    thinking tokens.
    """

    api: ClassVar[Api] = "anthropic"
    _sdk: AsyncAnthropic | None = None

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.options |= {"cache", "limit"} | (
            {"adaptive", "effort", "budget"} if connection.effort else set()
        )
        self.options |= {SEARCH} if connection.searches else set()
        self._output_limit = min(connection.output_limit or OUTPUT_LIMIT, LONGEST_OUTPUT)

    async def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        """One model call, as `Provider.stream_step` says; a turn that the server paused is continued."""
        replies: list[StepReply] = []
        while not replies or isinstance(replies[-1], PausedReply):
            if len(replies) > PAUSES:
                problem = f"{self.server} paused its reply {len(replies)} times."
                raise ReplyUnreadable(problem, retryable=False)
            async with aclosing(super().stream_step(request)) as parts:
                async for part in parts:
                    if isinstance(part, StepReply):
                        replies.append(part)
                    else:
                        yield part
            request = _continued(request, replies[-1].native)
        yield _joined(replies)

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """One user message with the results of all calls."""
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": result_content(
                    mended(result.text) if result.text.strip() else "(empty)",
                    result.images if self.takes_images else (),
                    self.text_type,
                    self._image,
                ),
                "is_error": result.is_error,
            }
            for call, result in batch
        ]
        return ({"role": "user", "content": results},) if results else ()

    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """The messages with the text of every tool result replaced."""

        def rewritten(block: NativeMessage) -> NativeMessage:
            if block["type"] != "tool_result":
                return block
            return {**block, "content": rewritten_content(block["content"], rewrite)}

        return tuple(
            {**message, "content": [rewritten(block) for block in message["content"]]} for message in messages
        )

    def in_cache_order(self, request: StepRequest) -> bytes:
        """Tools, system prompt and messages: the order of Anthropic's cache, whatever the order in the body.
        The marks for the cache move with every request and belong to no text, so they are left out."""
        tools = self._frame(request).get("tools", [])
        messages = mended_json(self._messages(request.parts))
        return compact_json((tools, mended(request.system), messages))

    @property
    def writes_cache(self) -> bool:
        """Whether the server takes the marks, and so writes everything before the last one to the cache."""
        return "cache" in self.options

    async def close(self) -> None:
        """Close connections. A later call opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    def _assembly(self, request: StepRequest) -> AnthropicAssembly:
        return AnthropicAssembly(self.server, self.taken_ids(request), open_searches(request.parts))

    def _refused(self, refusal: str) -> set[str]:
        if limit := _LIMIT_NAMED.search(refusal):
            self._output_limit = int(limit[1])
            return {"limit"}
        fitting = (options for words, options in _REFUSALS if words.search(refusal))
        return next(fitting, set())

    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        client, data = self._client(), await asyncio.to_thread(self.encoded, request)
        from anthropic import AsyncStream, Omit  # noqa: PLC0415 - once there is a client

        sending = client.post(
            "/v1/messages",
            content=data,
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
            options={"headers": only_key(self.api, self.connection.base_url, self._key, Omit())},
        )
        return await reader_of(stack, sending, self.server)

    def _frame(self, request: StepRequest) -> dict[str, Any]:
        frame = {"model": self.model, "max_tokens": self._output_limit, "stream": True, **self._thinking()}
        if request.system:
            system = {"type": "text", "text": mended(request.system)}
            frame["system"] = [_breakpoint(system) if self.writes_cache else system]
        if request.tools:
            search = [_SEARCH_TOOL] if SEARCH in self.options else []
            frame["tools"] = [*map(_wire_tool, request.tools), *search]
        return frame

    def _messages(self, parts: Sequence[Part]) -> Sequence[NativeMessage]:
        return _alternating(super()._messages(parts))

    def _marked(self, messages: Sequence[NativeMessage]) -> Sequence[NativeMessage]:
        """The messages with cache marks."""
        return _with_breakpoints(messages) if self.writes_cache else messages

    def _text(self, role: str, text: str) -> tuple[NativeMessage, ...]:
        return ({"role": role, "content": [{"type": "text", "text": text}]},) if text.strip() else ()

    def _image(self, image: Image) -> NativeMessage:
        source = {"type": "base64", "media_type": image.media_type, "data": base64_of(image)}
        return {"type": "image", "source": source}

    def _calls(self, step: ToolStep) -> tuple[NativeMessage, ...]:
        said = [{"type": "text", "text": step.text}] if step.text.strip() else []
        calls = [
            {"type": "tool_use", "id": call.id, "name": sendable_name(call.name), "input": call.arguments}
            for call, _ in step.calls
        ]
        return ({"role": "assistant", "content": [*said, *calls]},)

    def ids_in(self, message: NativeMessage) -> Iterator[str]:
        yield from (block["id"] for block in message["content"] if block["type"] == "tool_use")

    def _thinking(self) -> dict[str, Any]:
        effort = self.connection.effort
        wanted: dict[str, Any] = {"output_config": {"effort": effort}} if "effort" in self.options else {}
        if "adaptive" in self.options:
            return wanted | {"thinking": {"type": "adaptive", "display": "summarized"}}
        budget = min(_THINKING_TOKENS.get(effort, _MOST_THINKING), self._output_limit - _ROOM_TO_ANSWER)
        if "budget" in self.options and budget >= _SMALLEST_BUDGET:
            return wanted | {"thinking": {"type": "enabled", "budget_tokens": budget}}
        return wanted

    def _client(self) -> AsyncAnthropic:
        if isinstance(self._lender, AnthropicMessages):
            return self._lender._client()
        if self._sdk is not None:
            return self._sdk
        self._check_key()
        certificates = self._certificates()
        with lazy_packages("anthropic"):
            from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient  # noqa: PLC0415

        self._sdk = AsyncAnthropic(
            api_key="none",  # or the SDK looks for one; each request has its own headers instead
            base_url=self.connection.base_url.rstrip("/").removesuffix("/v1"),
            max_retries=0,  # Keen's own are shown, and can be stopped
            timeout=self._timeout,
            http_client=DefaultAsyncHttpxClient(
                timeout=self._timeout,
                follow_redirects=False,  # a redirect could carry the key to another host
                trust_env=self._trusts_environment,
                verify=certificates.result(),
            ),
        )
        return self._sdk


def _alternating(separate: Iterable[NativeMessage]) -> list[NativeMessage]:
    """Merge neighbouring messages of one role, so that roles alternate. Text of the user then follows the
    tool results before it in the same message."""
    messages: list[NativeMessage] = []
    for message in separate:
        if messages and messages[-1]["role"] == message["role"]:
            content = [*messages[-1]["content"], *message["content"]]
            messages[-1] = {"role": message["role"], "content": content}
        else:
            messages.append(message)
    return messages


def _with_breakpoints(messages: Sequence[NativeMessage]) -> list[NativeMessage]:
    """Set the cache marks: at most four, including the one on the system prompt, which covers the tools.

    One goes after the newest message of the user, which the next step will find in the cache; one after the
    message before it, which this step finds; and one after the newest text of the user, which the next turn
    still sends when all tool results after it are gone. Marks are only in the request, never in stored
    messages.
    """
    sent = list(messages)
    of_user = [place for place, message in enumerate(sent) if message["role"] == "user"]
    with_words = [place for place in of_user if sent[place]["content"][-1]["type"] == "text"]
    for place in {*of_user[-2:], *with_words[-1:]}:
        *rest, last = sent[place]["content"]
        sent[place] = {**sent[place], "content": [*rest, _breakpoint(last)]}
    return sent


def _breakpoint(block: NativeMessage) -> NativeMessage:
    return {**block, "cache_control": {"type": "ephemeral"}}


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _continued(request: StepRequest, native: Sequence[NativeMessage]) -> StepRequest:
    """The request with the paused reply appended."""
    return replace(request, parts=(*request.parts, NativeTrace(tuple(native))))


def _joined(replies: Sequence[StepReply]) -> StepReply:
    """All parts of a paused reply as one reply."""
    if len(replies) == 1:
        return replies[0]
    last = replies[-1]
    content = [block for reply in replies for message in reply.native for block in message["content"]]
    return replace(
        last,
        text="".join(reply.text for reply in replies),
        native=({"role": "assistant", "content": content},) if content else (),
        usage=_summed([reply.usage for reply in replies]),
    )


def _summed(usages: Sequence[TokenUsage]) -> TokenUsage:
    """The usage of all parts: the outputs are added up; the input of the last part includes all earlier
    ones."""
    return replace(
        usages[-1],
        output_tokens=_sum(usage.output_tokens for usage in usages),
        reasoning_tokens=_sum(usage.reasoning_tokens for usage in usages),
        web_searches=_sum(usage.web_searches for usage in usages),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
