"""Asks model servers for their models: for the model picker, local servers and the connection check."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from keen_tui.domain.errors import ProviderError, ReplyUnreadable, RequestRefused
from keen_tui.domain.models import FoundServer, ModelInfo, ProviderInfo
from keen_tui.providers.catalog.catalog import Catalog
from keen_tui.providers.catalog.live_models import MODELS_LIMIT, listed_items, read_models
from keen_tui.providers.wire.json_fields import text_of
from keen_tui.providers.wire.key_headers import key_headers
from keen_tui.providers.wire.reported import status_error
from keen_tui.providers.wire.sdk_errors import ErrorTranslator, host_and_port
from keen_tui.settings.config import is_loopback
from keen_tui.settings.credentials import FoundKey

if TYPE_CHECKING:
    import httpx2

LIST_SECONDS = 15.0
"""Seconds that a list of models may take in all."""

PROBE_SECONDS = 0.5
"""Seconds that a local server has to list its models."""

BODY_LIMIT = 8 * 2**20
_PAGES_LIMIT = 5
_NO_SUCH_PAGE = (404, 405, 501)


class NoModelList(RequestRefused):
    """The server has no list of models where `asked`, its URLs with the answers ("… (404)"); it may still
    serve some."""

    def __init__(self, server: str, *asked: str) -> None:
        usual = any(urlsplit(url).path.startswith("/v1/models") for url in asked)
        advice = "" if usual else " The address of most servers ends in /v1."
        super().__init__(f"{server} has no list of models at {' or '.join(asked)}.{advice}")
        self.server = server
        self.asked = asked


async def list_models(
    provider: ProviderInfo, key: FoundKey | None, catalog: Catalog
) -> tuple[ModelInfo, ...]:
    """The chat models that the provider's server lists now, the known ones first.

    Raises:
        ProviderError: the server doesn't answer, refuses, or answers without a list. Nothing else is raised.
    """
    return read_models(await _fetch(provider, key, LIST_SECONDS), provider, catalog)


async def find_local_servers(providers: Iterable[ProviderInfo], catalog: Catalog) -> tuple[FoundServer, ...]:
    """The providers whose servers answer with a list of models within half a second.

    Asks all of them at once, without a key. Never raises.
    """
    await asyncio.to_thread(import_module, "httpx2")  # leaves processor time to the servers that are asked
    found = await asyncio.gather(*(_probe(provider, catalog) for provider in providers))
    return tuple(server for server in found if server is not None)


async def check_connection(provider: ProviderInfo, model: ModelInfo, key: FoundKey | None) -> str:
    """One sentence about the server, its speed, and whether it lists the model.

    Raises:
        ProviderError: the server doesn't answer, or refuses.
    """
    began = time.monotonic()
    try:
        items = await _fetch(provider, key, LIST_SECONDS)
    except NoModelList:
        items = None
    answers = f"{provider.name} answers in {time.monotonic() - began:.1f} s"
    if items is None:
        return f"{answers}; it doesn't list its models, so it can't say whether it has {model.id}."
    if any(text_of(item.get("id")).removeprefix("models/") == model.id for item in items):
        return f"{answers} and has {model.id}."
    return f"{answers}, but {model.id} is not in its list of {len(items)} models. Choose one that is."


async def _probe(provider: ProviderInfo, catalog: Catalog) -> FoundServer | None:
    try:
        items = await _fetch(provider, None, PROBE_SECONDS)
    except ProviderError:
        return None
    _, address = host_and_port(provider.base_url)
    return FoundServer(provider=provider, address=address, models=read_models(items, provider, catalog))


async def _fetch(provider: ProviderInfo, key: FoundKey | None, seconds: float) -> list[Mapping[str, Any]]:
    """The models as the server describes them. Raises ProviderError, nothing else."""
    server, address = host_and_port(provider.base_url)
    errors = ErrorTranslator(
        server=server,
        address=address,
        key_source=key.source if key else " or ".join(provider.key_variables) or "a key",
        key=key.value if key else "",
        stall_seconds=seconds,
    )
    try:
        async with asyncio.timeout(seconds):
            client = await asyncio.to_thread(_client, provider, key)
            async with client:
                return await _all_pages(client, provider, server)
    except TimeoutError:
        raise errors.unreachable(f"no answer within {seconds:g} s") from None
    except Exception as error:
        raise errors.translated(error, in_body=False) from None


def _client(provider: ProviderInfo, key: FoundKey | None) -> httpx2.AsyncClient:
    """An HTTP client. Blocking: imports the library and reads the certificates."""
    import httpx2  # noqa: PLC0415 - dear, and needed only here

    headers = {"accept": "application/json", "accept-encoding": "identity"}
    if provider.api == "anthropic":
        headers["anthropic-version"] = "2023-06-01"
    secret = key_headers(provider.api, provider.base_url, key.value if key else "")
    return httpx2.AsyncClient(
        headers=headers | secret,
        timeout=LIST_SECONDS,
        follow_redirects=False,  # a redirect could carry the key to another host
        trust_env=not is_loopback(provider.base_url),
        verify=provider.base_url.startswith("https:"),
    )


async def _all_pages(
    client: httpx2.AsyncClient, provider: ProviderInfo, server: str
) -> list[Mapping[str, Any]]:
    """The models of all pages, up to the limit."""
    url = _list_url(provider)
    cursor = "after_id" if provider.api == "anthropic" else "after"
    query = {"limit": "1000"} if provider.api == "anthropic" else {}
    items: list[Mapping[str, Any]] = []
    for _ in range(_PAGES_LIMIT):
        body = await _get_json(client, url, query, server)
        page = listed_items(body)
        if page is None:
            raise ReplyUnreadable(
                f"{server} answers, but not with a list of models. Is {url} the right address?"
            )
        items += page
        last = (
            text_of(body.get("last_id")) if isinstance(body, Mapping) and body.get("has_more") is True else ""
        )
        if not last or last == query.get(cursor) or len(items) >= MODELS_LIMIT:
            break
        query = query | {cursor: last}
    return items


def _list_url(provider: ProviderInfo) -> str:
    base = provider.base_url.rstrip("/")
    if provider.api == "anthropic":
        return f"{base.removesuffix('/v1')}/v1/models"
    return f"{base}/models"


async def _get_json(client: httpx2.AsyncClient, url: str, query: Mapping[str, str], server: str) -> object:
    """The JSON of an answer. Raises ProviderError if it isn't a success, is too long, or isn't JSON."""
    async with client.stream("GET", url, params=query or None) as response:
        raw = bytearray()
        async for piece in response.aiter_bytes():
            raw += piece
            if len(raw) > BODY_LIMIT:
                raise ReplyUnreadable(f"{server} sends an endless list of models.")
        body = _parsed(bytes(raw))
        if response.status_code in _NO_SUCH_PAGE:
            raise NoModelList(server, f"{url} ({response.status_code})")
        if not response.is_success:
            raise status_error(response.status_code, response.headers, body, server)
        return body


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
