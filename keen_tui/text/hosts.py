"""Hosts by name: what is one, and the patterns of rules that name some. Pure."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from keen_tui.text.disguise import revealed

USUAL_PORTS: Final = (80, 443)
"""Ports that may be used wherever the host may be."""

_LONGEST: Final = 253
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PATTERN: Final = re.compile(r"(?P<name>\*|(?:\*\.)?[^*:/\s]+)(?::(?P<port>[0-9]{1,5}))?")


class NotAHost(ValueError):
    """A text that names no host on the Internet; the message says why."""


class Host(Struct, frozen=True, order=True):
    """A host by its name in small letters, and a port."""

    name: str
    port: int

    def __str__(self) -> str:
        """As a rule names it: without a usual port."""
        return self.name if self.port in USUAL_PORTS else f"{self.name}:{self.port}"


class HostPattern(Struct, frozen=True, kw_only=True):
    """Hosts: one by its `name`, those below a domain (`*.example.org`), or all (`*`). Without a port the
    usual ones are meant."""

    name: str
    port: int | None = None

    def fits(self, host: Host) -> bool:
        """Whether it allows the host with that port."""
        return self._names(host) and (host.port == self.port if self.port else host.port in USUAL_PORTS)

    def is_about(self, host: Host) -> bool:
        """Whether it is about the host in a wide sense: without a port about all its ports."""
        return self._names(host) and self.port in (None, host.port)

    def _names(self, host: Host) -> bool:
        if self.name.startswith("*."):
            return host.name.endswith(self.name[1:])
        return self.name in ("*", host.name)

    def __str__(self) -> str:
        """As a rule names it."""
        return f"net({self.name}:{self.port})" if self.port else f"net({self.name})"


EVERY_HOST: Final = HostPattern(name="*")


class WebHosts(Struct, frozen=True):
    """Hosts whose pages may be read."""

    hosts: HostPattern

    def __str__(self) -> str:
        """As a rule names them."""
        return f"web{str(self.hosts).removeprefix('net')}"


def pattern_of(host: Host) -> HostPattern:
    """The pattern for exactly this host and port."""
    return HostPattern(name=host.name, port=None if host.port in USUAL_PORTS else host.port)


def host_name(text: str) -> str:
    """The name in its usual form: small letters, no dot at its end.

    Raises:
        NotAHost: an address, a name without a domain, or characters that no name has.
    """
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if text.startswith("[") or ":" in text or _NUMBER.fullmatch(labels[-1]):
        raise NotAHost(f"{revealed(text[:80])} is an address: only hosts with names can be reached")
    if not text.isascii() or len(name) > _LONGEST or not all(map(_LABEL.fullmatch, labels)):
        raise NotAHost(f"{revealed(text[:80])} isn't the name of a host")
    if len(labels) < 2 or labels[-1] == "localhost":
        raise NotAHost(f"{name} is a name in a local network: only hosts on the Internet can be reached")
    return name


def host_pattern(text: str) -> HostPattern:
    """The pattern that a rule names: `example.org`, `*.example.org`, `example.org:8443`, `*`.

    Raises:
        ValueError: it is none.
    """
    found = _PATTERN.fullmatch(text.strip())
    if not found:
        raise ValueError("a host looks like example.org, *.example.org or example.org:8443")
    name, port = found["name"], int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port < 65_536:
        raise ValueError("a port is a number from 1 to 65535")
    if name != "*":
        wild = "*." if name.startswith("*.") else ""
        name = wild + _domain(name.removeprefix("*.")) if wild else host_name(name)
    return HostPattern(name=name, port=port)


def _domain(text: str) -> str:
    """The name of a domain, which may also be a single label."""
    return host_name(f"x.{text}").removeprefix("x.")
