"""The headers that carry a key, for each API."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import urlsplit

from keen_tui.domain.choices import Api

_ANTHROPIC_HOST = "api.anthropic.com"

_Omit = TypeVar("_Omit")


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


def only_key(api: Api, base_url: str, key: str, omit: _Omit) -> dict[str, str | _Omit]:
    """The headers with the key for a request by an SDK. `omit`, the SDK's value for a header that isn't sent,
    replaces any other key, such as one that the SDK finds in the environment."""
    return {"authorization": omit, "x-api-key": omit, **key_headers(api, base_url, key)}
