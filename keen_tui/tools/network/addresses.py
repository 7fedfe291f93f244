"""Addresses of hosts. Only addresses on the Internet are allowed, so that no name leads to this machine or
its network."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from msgspec import Struct

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

Connect = Callable[[str, int], Awaitable[Streams]]
"""Connects to an address and a port. Raises OSError if nothing answers."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host. Raises OSError if it has none."""

CHUNK: Final = 65_536
"""Bytes that are read at once."""
_NAT64: Final = ip_network("64:ff9b::/96")
"""Used by IPv6-only networks to reach IPv4 hosts: the last four bytes are the IPv4 address."""
_CLOSED: Final = (ip_network("168.63.129.16/32"), ip_network("192.88.99.0/24"))
"""Addresses that look public and aren't: one where a cloud gives its machines their secrets, and the old
relays of 6to4."""


class Internet(Struct, frozen=True, kw_only=True):
    """How to resolve names, which addresses are allowed, and how to connect."""

    resolve: Resolve
    is_open: Callable[[str], bool]
    connect: Connect


async def connected(address: str, port: int) -> Streams:
    """A connection to an address. Raises OSError if nothing answers."""
    return await asyncio.open_connection(address, port, limit=CHUNK)


async def resolved(name: str, port: int) -> Sequence[str]:
    """The addresses of a host, resolved as an absolute name, without search domains.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(f"{name}.", port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(text: str) -> bool:
    """Whether an address is on the Internet: not one of this machine, its network or a carrier, not
    multicast, and not another address in disguise."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(str(IPv4Address(int(address) & 0xFFFF_FFFF)))
        if int(address) < 1 << 96:  # ::a.b.c.d and ::ffff:a.b.c.d, in any spelling
            return False
        if address.sixtofour or address.teredo or address.is_site_local or address.scope_id:
            return False
    is_special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    return address.is_global and not is_special and not any(address in each for each in _CLOSED)


INTERNET: Final = Internet(resolve=resolved, is_open=is_public, connect=connected)
