"""Addresses of hosts: which are on the Internet, so that a name can't lead to this machine or its network."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from msgspec import Struct

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

Connect = Callable[[str, int], Awaitable[Streams]]
"""Connects to an address and a port. Raises OSError: nobody answers there."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host. Raises OSError: it has none."""

CHUNK: Final = 65_536
"""Bytes that are read at once."""
_NAT64: Final = ip_network("64:ff9b::/96")
"""The way of networks with IPv6 alone to hosts with IPv4: the address stands in its last four bytes."""
_CLOSED: Final = (ip_network("168.63.129.16/32"), ip_network("192.88.99.0/24"))
"""Addresses that count as public and aren't: one at which a cloud answers its own machines, with their
secrets, and the old relays of 6to4."""


class Internet(Struct, frozen=True, kw_only=True):
    """How names get their addresses, which addresses may be connected to, and how that is done."""

    resolve: Resolve
    is_open: Callable[[str], bool]
    connect: Connect


async def connected(address: str, port: int) -> Streams:
    """A connection to an address. Raises OSError: nobody answers there."""
    return await asyncio.open_connection(address, port, limit=CHUNK)


async def resolved(name: str, port: int) -> Sequence[str]:
    """The addresses of a host, looked up as an absolute name: no search domain is tried.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(f"{name}.", port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(text: str) -> bool:
    """Whether an address is one on the Internet: not of this machine, its network, or a carrier's, no group,
    and no other address in disguise."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(str(IPv4Address(int(address) & 0xFFFF_FFFF)))
        if int(address) < 1 << 96:  # ::a.b.c.d and ::ffff:a.b.c.d, however they are written
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
