"""Stores sign-ins to MCP servers: tokens, the registration at the authorization server, and where to renew
tokens.

A sign-in belongs to an address, not to a name: another server of the same name doesn't get the tokens.
"""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag

import msgspec
from msgspec import Struct

from keen_tui.domain.errors import ConfigError, ServerFailed
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.system.secret_store import SecretStore
from keen_tui.text.redaction import keep_key

if TYPE_CHECKING:
    import httpx2
    from filelock import BaseFileLock

FILE: Final = "sign-ins.toml"
_SIGNING: Final = "keen_tui.tools.mcp.signing"


class SignIn(Struct, frozen=True, kw_only=True):
    """A sign-in. `tokens`, `client`, `metadata` and `resource` are JSON objects of the protocol: the reply of
    the token endpoint, this program's registration, and the metadata of the authorization server and the
    MCP server. `expires_at` is seconds since 1970; None: unknown. `wanted_scope` has the scopes that the
    server has asked for since."""

    tokens: dict[str, Any]
    client: dict[str, Any]
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    expires_at: float | None = None
    wanted_scope: str = ""

    def __repr__(self) -> str:
        """Without the tokens."""
        return "SignIn(...)"


class SignIns:
    """The sign-ins of this user. Methods that aren't async block, and raise ConfigError if the sign-ins can't
    be read or written.

    Args:
        folder: the settings folder.
    """

    def __init__(self, folder: Path) -> None:
        self._store = SecretStore(
            folder / FILE, noun="sign-in", again="sign in again", advice="sign in again without it"
        )

    def get(self, url: str, *, anew: bool = False) -> SignIn | None:
        """The sign-in to that address; None: there is none. `anew`: read it again, as another program may
        have changed it."""
        kept = self._store.get(_name(url), anew=anew)
        if kept is None:
            return None
        try:
            sign_in = msgspec.json.decode(kept[0], type=SignIn)
        except msgspec.DecodeError:  # its message could quote a token
            raise ConfigError(f"{kept[1]}: the sign-in to {url} is damaged. Sign in again.") from None
        _keep_secrets(sign_in)
        return sign_in

    def put(self, url: str, sign_in: SignIn) -> str:
        """Save a sign-in; returns in words where it is kept."""
        _keep_secrets(sign_in)
        return self._store.put(_name(url), msgspec.json.encode(sign_in).decode())

    def forget(self, url: str) -> bool:
        """Remove the sign-in to that address. Returns whether there was one."""
        return self._store.forget(_name(url))

    def lock(self) -> BaseFileLock:
        """The lock that keeps other programs from renewing tokens at the same time."""
        return self._store.lock()

    async def auth(self, server: McpServer) -> httpx2.Auth | None:
        """Returns the object that signs requests with the tokens of the sign-in, and renews them; it never
        asks the user. None if nobody has signed in, or if the server's headers have an Authorization of their
        own.

        Raises:
            ServerFailed: the sign-in can't be read; the text is the end of a sentence.
        """
        if any(name.lower() == "authorization" for name in server.headers):
            return None
        try:
            sign_in = await asyncio.to_thread(self.get, server.url, anew=True)
        except ConfigError as error:
            raise ServerFailed(str(error).rstrip(".")) from error
        if sign_in is None:
            return None
        signing = await asyncio.to_thread(importlib.import_module, _SIGNING)
        auth: httpx2.Auth = signing.SignedRequests(server, self, sign_in)
        return auth


def _name(url: str) -> str:
    return f"mcp {urldefrag(url).url}"


def _keep_secrets(sign_in: SignIn) -> None:
    """From now on these secrets are masked in saved and shown texts."""
    for values in (sign_in.tokens, sign_in.client):
        for name, value in values.items():
            if name.endswith(("_token", "_secret")) and isinstance(value, str):
                keep_key(value)
