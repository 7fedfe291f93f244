"""Helpers for any provider: one call to a scripted server, and its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from keen_tui.demo.model_server import ModelServer, Script
from keen_tui.domain.choices import Api
from keen_tui.domain.messages import Message, StepReply, ToolSpec
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.policies import policy_of
from keen_tui.memory.projection import Projector
from keen_tui.providers.registry import build_provider
from keen_tui.providers.wire.provider import (
    Connection,
    Provider,
    StepPart,
    StepReasoning,
    StepRequest,
    StepText,
)
from tests.support.waiting import LIMIT

KEY = "sk-verysecretkey0123456789"


def request(
    text: str = "hi",
    *,
    traces: Sequence[PendingTrace] = (),
    tools: Sequence[ToolSpec] = (),
) -> StepRequest:
    """A request with one user message."""
    return step_request([Message(role="user", text=text, turn=1)], traces=traces, tools=tools)


def step_request(
    conversation: Sequence[Message],
    *,
    traces: Sequence[PendingTrace] = (),
    tools: Sequence[ToolSpec] = (),
    system: str = "You are a test.",
) -> StepRequest:
    """A request with this conversation under the policy `summary`."""
    parts = Projector().project(Past(tuple(conversation)), traces, policy_of("summary"))
    return StepRequest(system=system, parts=parts, tools=tools)


@asynccontextmanager
async def client_of(
    server: ModelServer | str, *, api: Api = "openai-chat", **options: Any
) -> AsyncIterator[Provider]:
    """A provider for the server, closed at the end. `options` are those of its connection."""
    base_url = server if isinstance(server, str) else server.base_url
    settings: dict[str, Any] = {
        "model": "m",
        "api_key": KEY,
        "key_source": "TEST_KEY",
        "stall_seconds": LIMIT,
    }
    provider = build_provider(api, Connection(base_url=base_url, **settings | options))
    try:
        yield provider
    finally:
        await provider.close()


async def parts_of(script: Script, step: StepRequest | None = None, **options: Any) -> list[StepPart]:
    """All parts of one call, answered by the script."""
    async with ModelServer(script) as server, client_of(server, **options) as provider:
        return [part async for part in provider.stream_step(step or request())]


async def reply_of(script: Script, **options: Any) -> StepReply:
    """The reply of one call. Asserts that it comes last and only once, and that its text was streamed."""
    *streamed, reply = await parts_of(script, **options)
    assert isinstance(reply, StepReply)
    assert text_of(streamed) == reply.text
    return reply


def text_of(parts: Iterable[StepPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, StepText))


def reasoning_of(parts: Iterable[StepPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, StepReasoning))
