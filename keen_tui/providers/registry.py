"""The APIs that Keen speaks. A new one is one file and one case here."""

from __future__ import annotations

from typing import assert_never, get_args

from keen_tui.domain.choices import Api
from keen_tui.providers.wire.provider import Connection, Provider

APIS: tuple[Api, ...] = get_args(Api)


def build_provider(api: Api, connection: Connection) -> Provider:
    """The client of a model in that API. Cheap: imports no SDK, and no files of other APIs."""
    match api:
        case "openai-chat":
            from keen_tui.providers.openai.chat import OpenAIChat  # noqa: PLC0415

            return OpenAIChat(connection)
        case "openai-responses":
            from keen_tui.providers.openai.responses import OpenAIResponses  # noqa: PLC0415

            return OpenAIResponses(connection)
        case "anthropic":
            from keen_tui.providers.anthropic.messages import AnthropicMessages  # noqa: PLC0415

            return AnthropicMessages(connection)
        case _:
            assert_never(api)
