"""Access to the server: accepted hosts and origins, the token, and the browsers that showed it."""

from __future__ import annotations

import hmac
import secrets
from asyncio import Future
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

COOKIE: Final = "keen-browser"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class Browser:
    """A browser that showed the token. `secret` is the value of its cookie; `left` are the ids of the
    sessions whose pages it left, newest last; `leaving` are the programs of such pages that haven't ended
    yet."""

    def __init__(self) -> None:
        self.secret: Final = secrets.token_urlsafe(32)
        self.left: list[str] = []
        self.leaving: set[Future[None]] = set()


class ServeAccess:
    """The secrets of one run of the server.

    Each browser shows the `token` once. `place` is the path below which all pages are: browsers send a cookie
    to every port of a host, so the cookie is limited to this path, which no other server on the machine
    knows.
    """

    def __init__(self, address: str) -> None:
        self.token: Final = secrets.token_urlsafe(32)
        self.place: Final = f"/{secrets.token_urlsafe(12)}/"
        self._address = address.lower()
        self._browsers: list[Browser] = []

    def enter(self, token: str) -> Browser | None:
        """A new browser if the token is right, otherwise None."""
        if not _same(token, self.token):
            return None
        browser = Browser()
        self._browsers.append(browser)
        return browser

    def browser(self, secret: str) -> Browser | None:
        """The browser with that secret; None if there is none."""
        found = None
        for each in self._browsers:
            if _same(secret, each.secret):
                found = each
        return found

    def is_for_us(self, headers: Mapping[str, str]) -> bool:
        """Whether the `Host` of a request is this server. With DNS rebinding it is the attacker's host."""
        name = _host_name(headers.get("Host", ""))
        if name in LOOPBACK or name == self._address:
            return True
        return self._address in ("0.0.0.0", "::") and _is_address(name)

    def is_own_page(self, headers: Mapping[str, str], *, needs_origin: bool) -> bool:
        """Whether a request comes from a page of this server. Without `needs_origin` a request that comes
        from no page counts too."""
        origin = headers.get("Origin")
        if origin is None:
            return not needs_origin and headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        return origin == f"http://{headers.get('Host', '')}"


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
