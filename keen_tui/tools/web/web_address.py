"""Addresses of pages, as the model writes them and as they are sent. Pure."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from msgspec import Struct

from keen_tui.domain.errors import ToolFailure
from keen_tui.text.disguise import revealed
from keen_tui.text.hosts import Host, NotAHost, host_name

LONGEST: Final = 4_000
"""Characters of the longest address that is fetched."""

_SHOWN: Final = 200
_PORTS: Final = {"http": 80, "https": 443}
_SCHEME: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NEVER: Final = re.compile(r"[\x00-\x20\x7f\\]")
"""Characters of an address that programs read in different ways."""
_KEPT: Final = "/%:@!$&'()*+,;=~-._?"
_HERE: Final = "For a server on this machine or in its network, use bash with curl."


class WebAddress(Struct, frozen=True, kw_only=True):
    """An address of a page: ASCII, without a user, a password or a fragment. `target` is its path with the
    query."""

    scheme: str
    host: Host
    target: str

    def __str__(self) -> str:
        """The whole address."""
        port = "" if self.host.port == _PORTS[self.scheme] else f":{self.host.port}"
        return f"{self.scheme}://{self.host.name}{port}{self.target}"

    def redirected(self, location: str) -> WebAddress:
        """Where a redirect from here leads. Raises ToolFailure like `web_address`."""
        try:
            return web_address(urljoin(str(self), location.strip()))
        except (ToolFailure, ValueError) as error:
            raise ToolFailure(f"{self} redirects to an address that isn't fetched: {error}") from error


def web_address(text: str) -> WebAddress:
    """The address that a text names.

    Raises:
        ToolFailure: it names none that can be fetched; the message says which tool can help.
    """
    text = text.strip()
    shown = revealed(text[:_SHOWN])
    if len(text) > LONGEST:
        raise ToolFailure(
            f"The address has {len(text):,} characters; the longest that is fetched has {LONGEST:,}."
        )
    if _NEVER.search(text):
        raise ToolFailure(
            f"{shown} contains a space, a backslash or a control character: write them as %20 and so on."
        )
    parts = _split(text, shown)
    if "@" in parts.netloc:
        raise ToolFailure(f"{shown} contains a user name or a password before @. Leave them out.")
    try:
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
        name = host_name(_ascii(parts.hostname or "") if parts.netloc[:1] != "[" else parts.netloc)
    except NotAHost as error:
        raise ToolFailure(f"{error}. {_HERE}") from error
    except ValueError as error:
        raise ToolFailure(f"{shown} isn't an address that can be fetched: {error}.") from error
    if not port:
        raise ToolFailure(f"{shown} names port 0, which no server has.")
    query = f"?{quote(parts.query, safe=_KEPT)}" if parts.query else ""
    target = (quote(parts.path, safe=_KEPT) or "/") + query
    return WebAddress(scheme=parts.scheme, host=Host(name, port), target=target)


def _split(text: str, shown: str) -> SplitResult:
    """The parts of an http or https address. Raises ToolFailure for others."""
    found = _SCHEME.match(text)
    scheme = found["scheme"].lower() if found else ""
    if scheme == "file":
        raise ToolFailure("web_fetch reads http and https addresses. Read files with read_file.")
    if scheme not in _PORTS:
        hint = f"it has no https:// in front. Write https://{shown}, or read a file with read_file"
        why = hint if not found or "." in scheme else f"{scheme}: can't be fetched, only http and https"
        raise ToolFailure(f"{shown} isn't an address on the web: {why}.")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise ToolFailure(f"{shown} isn't an address that can be fetched: {error}.") from error
    if not parts.netloc:
        raise ToolFailure(f"{shown} names no host. An address looks like https://docs.python.org/3/.")
    return parts


def _ascii(name: str) -> str:
    """The name as it is looked up. Raises ValueError if it can't be one."""
    return name if name.isascii() else name.encode("idna").decode()
