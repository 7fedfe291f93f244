"""The providers of all APIs, reading bytes that lie ready in place of those of a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

from keen_tui.domain.choices import Api
from keen_tui.providers.anthropic.messages import AnthropicMessages
from keen_tui.providers.openai.chat import OpenAIChat
from keen_tui.providers.openai.responses import OpenAIResponses
from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.http_provider import HttpProvider
from keen_tui.providers.wire.provider import Connection, StepRequest


class _Canned(HttpProvider):
    """Answers every request with the same pieces of a body, which ends cleanly behind them."""

    pieces: Sequence[bytes] = ()
    content_type = "text/event-stream"

    def load(self) -> None:
        """There is no SDK to load."""
        self._loaded = True

    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        return EventReader(self._body(), self.content_type, self.server)

    async def _body(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


class _CannedChat(_Canned, OpenAIChat):
    pass


class _CannedResponses(_Canned, OpenAIResponses):
    pass


class _CannedMessages(_Canned, AnthropicMessages):
    pass


CannedProvider = _CannedChat | _CannedResponses | _CannedMessages
_KINDS: dict[Api, type[CannedProvider]] = {
    "openai-chat": _CannedChat,
    "openai-responses": _CannedResponses,
    "anthropic": _CannedMessages,
}
PATHS: dict[Api, str] = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
"""Where a request of that API goes."""


def canned(api: Api, pieces: Sequence[bytes]) -> CannedProvider:
    """A provider of that API whose server sends these pieces."""
    provider = _KINDS[api](Connection(model="m", base_url="http://127.0.0.1:1/v1", api_key="k"))
    provider.pieces = pieces
    return provider
