"""The APIs that Keen speaks. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keen_tui.models import Api
from keen_tui.providers.anthropic_messages import AnthropicMessages
from keen_tui.providers.base import Connection, Provider
from keen_tui.providers.openai_chat import OpenAIChat
from keen_tui.providers.openai_responses import OpenAIResponses

_PROVIDERS: Mapping[Api, Callable[[Connection], Provider]] = {
    "anthropic": AnthropicMessages,
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
}

APIS = tuple(_PROVIDERS)


def build_provider(api: Api, connection: Connection) -> Provider:
    """The client of a model in that API. Cheap: no SDK is imported."""
    return _PROVIDERS[api](connection)
