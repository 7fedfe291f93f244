"""Who may use the server: addresses and pages it answers, the token, and the browsers that had it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

COOKIE: Final = "keen-browser"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class Browser:
    """A browser that had the token. `left` are the ids of the sessions whose pages it left, the newest
    last."""

    def __init__(self) -> None:
        self.secret: Final = secrets.token_urlsafe(32)
        self.left: list[str] = []


class ServeAccess:
    """The secrets of one run of the server.

    `token` is asked for once by each browser. `place` is the folder of all pages: cookies are sent to every
    port of an address, so that of a browser is for this folder, which no other server on the machine knows.
    """

    def __init__(self, address: str) -> None:
        self.token: Final = secrets.token_urlsafe(32)
        self.place: Final = f"/{secrets.token_urlsafe(12)}/"
        self._address = address
        self._browsers: list[Browser] = []

    def enter(self, token: str) -> Browser | None:
        """A new browser for somebody who has the token, else None."""
        if not _same(token, self.token):
            return None
        browser = Browser()
        self._browsers.append(browser)
        return browser

    def browser(self, secret: str) -> Browser | None:
        """The browser with that secret."""
        found = None
        for each in self._browsers:
            if _same(secret, each.secret):
                found = each
        return found

    def is_for_us(self, headers: Mapping[str, str]) -> bool:
        """Whether a request names this server as its host. A page whose name was made to lead here by DNS
        names its own."""
        name = _host_name(headers.get("Host", ""))
        if name in LOOPBACK or name == self._address:
            return True
        return self._address in ("0.0.0.0", "::") and _is_address(name)

    def is_own_page(self, headers: Mapping[str, str], *, needs_origin: bool) -> bool:
        """Whether a request comes from a page of this server, or from no page if it needs none."""
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
