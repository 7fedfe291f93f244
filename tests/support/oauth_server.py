"""An MCP server that wants a sign-in, with its authorization server, both by the SDK, on loopback."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.mcp.login import LoginPage


class Accounts(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The authorization server: it signs everybody in who comes. Each refresh token can be used once.

    `refuses`: the user says no. `seconds`: how long access tokens hold.
    """

    def __init__(self) -> None:
        self.refuses = False
        self.seconds = 3600
        self.renewals = 0
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        back = str(params.redirect_uri)
        if self.refuses:
            return construct_redirect_uri(
                back, error="access_denied", error_description="not today\x1b[2J", state=params.state
            )
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(back, code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        self.renewals += 1
        return self._tokens(client, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def forget_access(self) -> None:
        """Access tokens are refused from now on, refresh tokens aren't."""
        self.access.clear()

    def forget_all(self) -> None:
        """The user has taken the sign-in back."""
        self.access.clear()
        self.refresh.clear()

    def _tokens(
        self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None
    ) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, resource=resource
        )
        self.refresh[refresh] = RefreshToken(
            token=refresh, client_id=client.client_id, scopes=scopes, resource=resource
        )
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.seconds, scope=" ".join(scopes)
        )


class SignInServer:
    """The server at `url`, with one tool. `accounts` is its authorization server, `browser` the
    browser of a person, who `person` is."""

    def __init__(self, url: str, accounts: Accounts) -> None:
        self.url = url
        self.accounts = accounts
        self.visited: list[str] = []
        self._visits: set[asyncio.Task[None]] = set()

    @property
    def server(self) -> McpServer:
        """The server as it is configured."""
        return McpServer(name="notes", transport="http", url=self.url)

    def person(self, page: LoginPage) -> None:
        """Sign in on the page."""
        self.browser(page.url)

    def browser(self, url: str) -> None:
        """Open the page; the person agrees, or not, and is sent back."""
        self.visited.append(url)
        visit = asyncio.create_task(self._visit(url))
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)

    async def _visit(self, url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            (await client.get(url)).raise_for_status()

    async def page_after(self, url: str) -> str:
        """Where the browser is sent after the sign-in, without going there."""
        async with httpx2.AsyncClient() as client:
            return (await client.get(url)).headers["location"]


@asynccontextmanager
async def sign_in_server() -> AsyncIterator[SignInServer]:
    """Run the server."""
    accounts = Accounts()
    listening = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    mcp = MCPServer(
        "notes",
        auth_server_provider=accounts,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(origin),
            resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=["notes"], default_scopes=["notes"]
            ),
            required_scopes=["notes"],
            validate_token_resource=True,
        ),
    )

    @mcp.tool()
    def count() -> int:
        """Count the notes."""
        return 3

    async with _served(mcp.streamable_http_app(), listening):
        yield SignInServer(f"{origin}/mcp", accounts)


@asynccontextmanager
async def half_open_server() -> AsyncIterator[McpServer]:
    """Run a server that greets everybody and lists its tools for nobody."""
    app = MCPServer("half open").streamable_http_app()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        asked = await receive()
        if b"tools/list" in asked.get("body", b""):
            await Response(status_code=401, headers={"www-authenticate": "Bearer"})(scope, receive, send)
            return
        before = iter([asked])

        async def again() -> Message:
            return next(before, None) or await receive()

        await app(scope, again, send)

    listening = socket.create_server(("127.0.0.1", 0))
    async with _served(guarded, listening):
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        yield McpServer(name="half", transport="http", url=url)


@asynccontextmanager
async def _served(app: ASGIApp, listening: socket.socket) -> AsyncIterator[None]:
    running = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
    task = asyncio.create_task(running.serve(sockets=[listening]))
    try:
        yield
    finally:
        running.should_exit = True
        await task
        listening.close()
