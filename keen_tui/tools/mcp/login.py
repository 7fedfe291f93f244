"""Signing in to an MCP server in the browser, by OAuth 2.1. Imported in a thread: it needs the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import AuthorizationCodeResult
from pydantic import ValidationError

from keen_tui import __version__
from keen_tui.domain.errors import ServerFailed
from keen_tui.settings.config import is_loopback
from keen_tui.settings.mcp_servers import McpServer
from keen_tui.text.redaction import masked
from keen_tui.text.sanitize import clean
from keen_tui.tools.mcp.loopback import Loopback
from keen_tui.tools.mcp.sign_ins import SignIn, SignIns
from keen_tui.tools.mcp.signing import PROTOCOL, TokenStorage, got, new_provider

Paste = Callable[[], Awaitable[str]]
"""Waits for a line that the user pastes: the address of the page that the browser couldn't load."""

_REQUEST_SECONDS: Final = 30.0
_MOST_REDIRECTS: Final = 5
_LONGEST_REASON: Final = 300


async def sign_in(
    server: McpServer,
    sign_ins: SignIns,
    show_url: Callable[[str], None],
    paste: Paste | None = None,
    *,
    seconds: float = 600.0,
) -> str:
    """Have the user sign in to a server; returns where the tokens are kept, in words.

    Args:
        show_url: opens the address in a browser, or shows it.
        paste: for a browser on another machine; asked again until the address is one of this sign-in.
            Raises EOFError if nothing will be pasted.
        seconds: how long the user may take.

    Raises:
        ServerFailed: that failed; the text is the end of a sentence. ConfigError: the tokens can't be kept.
    """
    before = await asyncio.to_thread(sign_ins.get, server.url, anew=True)
    async with Loopback() as loopback:
        login = _Login(server, loopback, show_url, paste)
        try:
            async with asyncio.timeout(seconds):
                signed_in = await login.run(before)
        except TimeoutError:
            raise ServerFailed(f"nobody signed in within {seconds / 60:.0f} minutes") from None
        return await asyncio.to_thread(sign_ins.put, server.url, signed_in)


class _Login:
    """One sign-in."""

    def __init__(
        self, server: McpServer, loopback: Loopback, show_url: Callable[[str], None], paste: Paste | None
    ) -> None:
        self._server = server
        self._loopback = loopback
        self._show_url = show_url
        self._paste = paste
        self._scope = ""

    async def run(self, before: SignIn | None) -> SignIn:
        """The tokens, by the flow that begins where a request isn't accepted."""
        self._scope = before.wanted_scope if before else ""
        storage = TokenStorage(None)
        provider = new_provider(self._server.url, storage, self._loopback.port)
        provider.context.redirect_handler = self._redirect
        provider.context.callback_handler = self._come_back
        try:
            status = await self._request(provider)
        except OAuthRegistrationError as error:
            raise ServerFailed(
                "its authorization server doesn't register new programs. Use a token of yours in headers "
                f"instead ({_short(error)})"
            ) from error
        except OAuthFlowError as error:
            raise ServerFailed(f"the sign-in failed: {_short(error)}") from error
        except (ValidationError, ValueError) as error:
            raise ServerFailed("the sign-in failed: its authorization server says odd things") from error
        except httpx2.HTTPError as error:
            what = _short(error) or type(error).__name__
            raise ServerFailed(f"it, or its authorization server, can't be reached: {what}") from error
        if not storage.tokens or not storage.client:
            raise ServerFailed(f"it doesn't ask for a sign-in (HTTP {status})")
        return got(storage, provider)

    async def _request(self, auth: OAuthClientProvider) -> int:
        """Send the first request of a connection; returns the status. Redirects are followed on the server
        itself."""
        headers = {**self._server.headers, "mcp-protocol-version": PROTOCOL}
        url = httpx2.URL(self._server.url)
        async with httpx2.AsyncClient(auth=auth, headers=headers, timeout=_REQUEST_SECONDS) as client:
            for _ in range(_MOST_REDIRECTS):
                response = await client.send(self._first_request(client, url), stream=True)
                await response.aclose()
                status = response.status_code
                session = response.headers.get("mcp-session-id")
                target = response.next_request.url if response.next_request else None
                if target is None or (target.scheme, target.netloc) != (url.scheme, url.netloc):
                    break
                url = target
            if session:
                with suppress(httpx2.HTTPError):
                    await client.delete(url, headers={"mcp-session-id": session})
        return status

    def _first_request(self, client: httpx2.AsyncClient, url: httpx2.URL) -> httpx2.Request:
        if self._server.transport == "sse":
            return client.build_request("GET", url, headers={"accept": "text/event-stream"})
        content = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "keen-tui", "version": __version__},
            },
        }
        accept = {"accept": "application/json, text/event-stream"}
        return client.build_request("POST", url, headers=accept, json=content)

    async def _redirect(self, url: str) -> None:
        """Send the user to the authorization server."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
            page = clean(url.partition("?")[0])
            raise ServerFailed(f"its page for signing in isn't safe: {page} isn't https")
        sent = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self._loopback.state = sent.get("state", "")
        if self._scope:
            sent["scope"] = union_scopes(sent.get("scope"), self._scope) or self._scope
            url = urlunsplit(parts._replace(query=urlencode(sent)))
        self._show_url(clean(url))

    async def _come_back(self) -> AuthorizationCodeResult:
        """Wait for the browser, or for what the user pastes."""
        pasting = asyncio.create_task(self._pasted(self._paste)) if self._paste else None
        try:
            sent = await self._loopback.answer()
        finally:
            if pasting:
                pasting.cancel()
                await asyncio.gather(pasting, return_exceptions=True)
        if "error" in sent:
            reason = _short(sent.get("error_description") or sent["error"])
            raise ServerFailed(f"the sign-in was refused: {reason}")
        return AuthorizationCodeResult(
            code=sent.get("code", ""), state=sent.get("state"), iss=sent.get("iss")
        )

    async def _pasted(self, paste: Paste) -> None:
        with suppress(EOFError):
            while not self._loopback.take(await paste()):
                pass


def _short(reason: object) -> str:
    """What a server said, for the end of a sentence."""
    return masked(clean(str(reason))).strip().rstrip(".")[:_LONGEST_REASON]
