"""Connections to hosts by name: the addresses are checked, and the connection goes to one that was checked.

A second lookup, which could have another answer, never happens.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from keen_tui.text.hosts import Host
from keen_tui.tools.network.addresses import Internet, Streams

_CONNECT_SECONDS: Final = 15.0
_MOST_ADDRESSES: Final = 4
_NOT_PUBLIC: Final = "it points to an address of this machine or a local network"


class NotReached(Exception):
    """There is no connection; the text says why, as the end of a sentence. `is_refused`: none was wanted."""

    def __init__(self, reason: str, *, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


async def reached(host: Host, internet: Internet) -> Streams:
    """A connection to a host, all of whose addresses are open.

    Raises:
        NotReached: it has no address, one that isn't open, or doesn't answer.
    """
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            addresses = await internet.resolve(host.name, host.port)
    except (OSError, UnicodeError, TimeoutError) as error:
        raise NotReached("its name can't be resolved") from error
    if not addresses or not all(map(internet.is_open, addresses)):
        raise NotReached(_NOT_PUBLIC, is_refused=True)
    for address in addresses[:_MOST_ADDRESSES]:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_SECONDS):
                streams = await internet.connect(address, host.port)
            _require_elsewhere(streams[1])
            return streams
    raise NotReached("it does not answer")


def _require_elsewhere(writer: asyncio.StreamWriter) -> None:
    """Raises NotReached if the address belongs to this machine, which may have public ones too."""
    ends = (writer.get_extra_info("sockname"), writer.get_extra_info("peername"))
    if ends[0] is None or ends[1] is None or ends[0][0] == ends[1][0]:
        writer.close()
        raise NotReached(_NOT_PUBLIC, is_refused=True)
