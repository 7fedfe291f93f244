"""Requests to an MCP server, signed with the tokens of a sign-in. Imported in a thread: it needs the SDK.

The SDK's own flow would ask the user when the tokens have expired. It also holds a lock while a request waits
for its reply, so a call couldn't be cancelled meanwhile. So it is used only to renew tokens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, Final

import httpx2
from filelock import Timeout
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth, union_scopes
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from msgspec.structs import replace
from pydantic import AnyUrl, BaseModel

from keen_tui.domain.errors import ConfigError, ServerFailed, SignInNeeded
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.mcp.sign_ins import SignIn, SignIns

_PROTOCOL: Final = "2025-11-25"
"""The version of the protocol in requests for tokens."""

_MARGIN: Final = 30.0
"""Tokens are renewed this many seconds before they expire."""
_RENEWAL_SECONDS: Final = 30.0


class SignedRequests(httpx2.Auth):
    """Signs requests to one server, and renews the tokens when they expire or the server refuses them.
    Several programs may use the same sign-in: one renews it, the others use the result.

    Requests raise SignInNeeded if the user has to sign in again, and ServerFailed if the tokens can't be
    renewed now.
    """

    def __init__(self, server: McpServer, sign_ins: SignIns, sign_in: SignIn) -> None:
        self._url = server.url
        self._sign_ins = sign_ins
        self._sign_in = sign_in
        self._renewal: asyncio.Task[None] | None = None

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Sign a request; renew the tokens and sign it again if the server refuses them."""
        used = self._sign_in
        if _has_ended(used):
            used = await self._renewed(used)
        response = yield _signed(request, used)
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            used = await self._renewed(used)
            response = yield _signed(request, used)
            if response.status_code == httpx2.codes.UNAUTHORIZED:
                raise SignInNeeded("it doesn't accept the sign-in any more")
        if response.status_code == httpx2.codes.FORBIDDEN and (
            extract_field_from_www_auth(response, "error") == "insufficient_scope"
        ):
            await self._note_scope(used, extract_field_from_www_auth(response, "scope") or "")
            raise SignInNeeded("it wants more rights for this request")

    async def _renewed(self, used: SignIn) -> SignIn:
        """A newer sign-in than `used`. The renewal isn't cancelled with the request: tokens that are renewed
        but not saved would be lost."""
        if self._sign_in is used:
            if self._renewal is None or self._renewal.done():
                self._renewal = asyncio.create_task(self._renew(used))
                # Marks the error as seen: the requests that waited may be gone.
                self._renewal.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            await asyncio.shield(self._renewal)
        return self._sign_in

    async def _renew(self, used: SignIn) -> None:
        try:
            lock = await asyncio.to_thread(self._sign_ins.lock)
            with suppress(Timeout):  # better renewed twice than not at all
                await asyncio.to_thread(lock.acquire)
            try:
                newest = await asyncio.to_thread(self._sign_ins.get, self._url, anew=True)
                if newest is None:
                    raise SignInNeeded("you have signed out")
                if newest.tokens == used.tokens or _has_ended(newest):
                    newest = self._sign_in = await _exchanged(self._url, newest)
                    await asyncio.to_thread(self._sign_ins.put, self._url, newest)
                self._sign_in = newest
            finally:
                lock.release()
        except ConfigError as error:
            raise ServerFailed(str(error).rstrip(".")) from error

    async def _note_scope(self, used: SignIn, scope: str) -> None:
        """Remember the scope, so that the next sign-in asks for it, too."""
        wanted = union_scopes(used.wanted_scope, scope)
        if wanted and wanted != used.wanted_scope:
            self._sign_in = replace(used, wanted_scope=wanted)
            await asyncio.to_thread(self._sign_ins.put, self._url, self._sign_in)


class _Storage:
    """The tokens that the SDK's provider begins with. Those that it gets later are read from its context."""

    def __init__(self, tokens: OAuthToken | None, client: OAuthClientInformationFull | None) -> None:
        self._tokens, self._client = tokens, client

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_tokens(self, tokens: OAuthToken) -> None:
        pass

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        pass


def new_provider(
    url: str, port: int, client: OAuthClientInformationFull | None, tokens: OAuthToken | None = None
) -> OAuthClientProvider:
    """The SDK's provider for a server. The browser returns to `port` on this machine."""
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
            client_name="Keen TUI",
            token_endpoint_auth_method="none",
        ),
        _Storage(tokens, client),
    )


def sign_in_of(provider: OAuthClientProvider, wanted_scope: str = "") -> SignIn | None:
    """The sign-in that the provider has, ready to be saved; None: it has none."""
    context = provider.context
    if not context.current_tokens or not context.client_info:
        return None
    expires_in = context.current_tokens.expires_in
    return SignIn(
        tokens=_plain(context.current_tokens),
        client=_plain(context.client_info),
        metadata=_plain(context.oauth_metadata) or None,
        resource=_plain(context.protected_resource_metadata) or None,
        expires_at=time.time() + expires_in if expires_in is not None else None,
        wanted_scope=wanted_scope,
    )


async def _exchanged(url: str, sign_in: SignIn) -> SignIn:
    """The sign-in with new tokens, got with its refresh token."""
    if not sign_in.tokens.get("refresh_token"):
        raise SignInNeeded("the sign-in has ended")
    client = OAuthClientInformationFull.model_validate(sign_in.client)
    provider = new_provider(url, 0, client, OAuthToken.model_validate(sign_in.tokens))
    provider.context.token_expiry_time = 1.0  # long ago, so the flow renews them
    if sign_in.metadata:
        provider.context.oauth_metadata = OAuthMetadata.model_validate(sign_in.metadata)
    if sign_in.resource:
        resource = ProtectedResourceMetadata.model_validate(sign_in.resource)
        provider.context.protected_resource_metadata = resource
    # The flow first yields the request for tokens, then the request itself, which isn't sent.
    asked = httpx2.Request("GET", url, headers={"mcp-protocol-version": _PROTOCOL})
    flow = provider.async_auth_flow(asked)
    try:
        async with httpx2.AsyncClient(timeout=_RENEWAL_SECONDS) as http:
            wanted = await anext(flow)
            while wanted is not asked:
                response = await http.send(wanted)
                if response.status_code >= 500 or response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
                    raise ServerFailed(f"the sign-in can't be renewed now (HTTP {response.status_code})")
                wanted = await flow.asend(response)
    except httpx2.HTTPError as error:
        what = str(error) or type(error).__name__
        raise ServerFailed(f"the sign-in can't be renewed now: {what}") from None
    finally:
        await flow.aclose()
    renewed = sign_in_of(provider, sign_in.wanted_scope)
    if not renewed:
        raise SignInNeeded("the sign-in has ended")
    return renewed


def _signed(request: httpx2.Request, sign_in: SignIn) -> httpx2.Request:
    request.headers["Authorization"] = f"Bearer {sign_in.tokens['access_token']}"
    return request


def _has_ended(sign_in: SignIn) -> bool:
    return sign_in.expires_at is not None and time.time() > sign_in.expires_at - _MARGIN


def _plain(value: BaseModel | None) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude_none=True) if value else {}
