"""The headers that carry a key, for each API."""

from __future__ import annotations

from urllib.parse import urlsplit

from keen_tui.domain.choices import Api

_ANTHROPIC_HOST = "api.anthropic.com"


def key_headers(api: Api, base_url: str, key: str) -> dict[str, str]:
    """The headers for a key; none without one.

    Anthropic itself gets a bearer token, as from its SDK. Servers that imitate its API may know only the
    older `x-api-key`, so they get both.
    """
    if not key:
        return {}
    bearer = {"authorization": f"Bearer {key}"}
    imitated = api == "anthropic" and urlsplit(base_url).hostname != _ANTHROPIC_HOST
    return bearer | {"x-api-key": key} if imitated else bearer
