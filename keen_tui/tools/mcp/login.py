"""Signing in to an MCP server in the browser, by OAuth 2.1. Imported in a thread: it needs the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import union_scopes
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull
from msgspec import Struct

from keen_tui.domain.errors import ServerFailed
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.config import is_loopback
from keen_tui.text.redaction import masked
from keen_tui.text.sanitize import clean
from keen_tui.tools.mcp.loopback import Loopback
from keen_tui.tools.mcp.sdk_link import first_error
from keen_tui.tools.mcp.sign_ins import SignIn, SignIns
from keen_tui.tools.mcp.signing import new_provider, sign_in_of


class LoginPage(Struct, frozen=True):
    """The page where the user signs in. For a browser on another machine, `take` accepts the address that
    the browser ended on. It raises SessionRefused with a sentence if that is wrong; call it again then."""

    url: str
    take: Callable[[str], None]


_REQUEST_SECONDS: Final = 30.0
_LONGEST_REASON: Final = 300


async def sign_in(
    server: McpServer,
    sign_ins: SignIns,
    show: Callable[[LoginPage], None],
    *,
    seconds: float = 600.0,
) -> str:
    """Sign the user in to a server; returns in words where the tokens are kept.

    Args:
        show: shows the page to the user, or opens it in the browser.
        seconds: how long the user may take.

    Raises:
        ServerFailed: it failed; the text is the end of a sentence. ConfigError: the tokens can't be saved.
    """
    before = await asyncio.to_thread(sign_ins.get, server.url, anew=True)
    try:
        async with asyncio.timeout(seconds), Loopback(server.oauth_callback_port) as loopback:
            signed_in = await _Login(server, loopback, show).run(before)
    except TimeoutError:
        raise ServerFailed(f"nobody signed in within {seconds / 60:.0f} minutes") from None
    except OSError as error:
        raise ServerFailed(f"Keen can't wait for the browser: {error.strerror or error}") from error
    return await asyncio.to_thread(sign_ins.put, server.url, signed_in)


class _Login:
    """One sign-in."""

    def __init__(self, server: McpServer, loopback: Loopback, show: Callable[[LoginPage], None]) -> None:
        self._server = server
        self._loopback = loopback
        self._show = show
        self._scope = ""

    async def run(self, before: SignIn | None) -> SignIn:
        """Run the SDK's flow, which starts when the server refuses a request; returns the new sign-in."""
        self._scope = before.wanted_scope if before else ""
        provider = new_provider(self._server.url, self._loopback.port, _registered(self._server))
        provider.context.redirect_handler = self._redirect
        provider.context.callback_handler = self._come_back
        failure: BaseException | None = None
        try:
            await self._use(provider)
        except (Exception, BaseExceptionGroup) as error:
            failure = first_error(error)
        signed_in = sign_in_of(provider)
        if signed_in:
            return signed_in  # even if something failed afterwards
        raise _failed(failure) from failure

    async def _use(self, auth: OAuthClientProvider) -> None:
        """Connect and list the tools: the server refuses one of these requests, which starts the flow."""
        server = self._server
        async with httpx2.AsyncClient(auth=auth, headers=server.headers, timeout=_REQUEST_SECONDS) as http:
            transport = (
                sse_client(server.url, headers=dict(server.headers), auth=auth)
                if server.transport == "sse"
                else streamable_http_client(server.url, http_client=http)
            )
            is_old = server.transport == "sse"
            async with Client(transport, mode="legacy" if is_old else "auto", cache=None) as client:
                await client.list_tools()

    async def _redirect(self, url: str) -> None:
        """Send the user to the authorization server."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
            page = clean(url.partition("?")[0])
            raise ServerFailed(f"its sign-in page isn't safe: {page} isn't https")
        sent = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self._loopback.state = sent.get("state", "")
        if self._scope:
            sent["scope"] = union_scopes(sent.get("scope"), self._scope) or self._scope
            url = urlunsplit(parts._replace(query=urlencode(sent)))
        self._show(LoginPage(clean(url), self._loopback.take))

    async def _come_back(self) -> AuthorizationCodeResult:
        """Wait for the browser, or for the address that the user pastes."""
        sent = await self._loopback.answer()
        if "error" in sent:
            reason = _short(sent.get("error_description") or sent["error"])
            raise ServerFailed(f"the sign-in was refused: {reason}")
        return AuthorizationCodeResult(
            code=sent.get("code", ""), state=sent.get("state"), iss=sent.get("iss")
        )


def _registered(server: McpServer) -> OAuthClientInformationFull | None:
    """The program that the user has registered; None: the sign-in registers one."""
    if not server.oauth_client_id:
        return None
    method = "client_secret_basic" if server.oauth_client_secret else "none"
    return OAuthClientInformationFull(
        client_id=server.oauth_client_id,
        client_secret=server.oauth_client_secret or None,
        token_endpoint_auth_method=method,
    )


def _failed(error: BaseException | None) -> ServerFailed:
    """The error as the end of a sentence."""
    match error:
        case None:
            return ServerFailed("it doesn't ask for a sign-in")
        case ServerFailed():
            return error
        case OAuthRegistrationError():
            return ServerFailed(
                "its authorization server doesn't register new programs. Set oauth_client_id, or put a token "
                f"into headers ({_short(error)})"
            )
        case OAuthFlowError():
            return ServerFailed(f"the sign-in failed: {_short(error)}")
        case httpx2.HTTPStatusError():  # its own text has the address, which may have a token
            return ServerFailed(f"it answered with HTTP {error.response.status_code}")
        case httpx2.HTTPError() | OSError():
            what = _short(error) or type(error).__name__
            return ServerFailed(f"it, or its authorization server, can't be reached: {what}")
        case ValueError():  # also of pydantic, which quotes what it read
            return ServerFailed(
                "the sign-in failed: its authorization server's answer doesn't follow the protocol"
            )
    return ServerFailed(f"it doesn't ask for a sign-in, but can't be used ({_short(error)})")


def _short(reason: object) -> str:
    """A server's reason, cleaned for the end of a sentence."""
    return masked(clean(str(reason))).strip().rstrip(".")[:_LONGEST_REASON]
