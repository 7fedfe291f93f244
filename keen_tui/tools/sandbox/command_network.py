"""Gives a command in its sandbox its own proxy, the only way to the network."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.choices import Network
from keen_tui.system.safe_read import content_of
from keen_tui.system.time_limit import TimeLimit
from keen_tui.tools.network.addresses import INTERNET, Internet
from keen_tui.tools.network.gate import HostGate
from keen_tui.tools.network.network_words import in_words, install_in, may_want_network, registries
from keen_tui.tools.network.socket_handover import NoListener, handed_out, handover, proxy_environment
from keen_tui.tools.sandbox.base import Argv, Launch, Sandbox, Terms, in_thread

_MOST_NPMRC: Final = 100_000


class CommandNetwork(Struct, frozen=True, kw_only=True):
    """The network access of commands: `setting` is the user's; `is_open` says that a rule allows every host;
    `internet` has the addresses."""

    setting: Network = "off"
    is_open: bool = False
    internet: Internet = INTERNET

    def gate_for(
        self, mentions: Sequence[Sequence[str]], sandbox: Sandbox, limit: TimeLimit, root: Path
    ) -> HostGate | None:
        """The gate of a command that may need the network and can get a proxy. Reads the disk."""
        has_proxy = sandbox.has_own_network and self.setting != "off"
        if not has_proxy or not may_want_network(mentions):
            return None
        install = install_in(mentions)
        if not install:
            return HostGate(limit)
        return HostGate(limit, registries(install, _npmrc(root)), in_words(install))

    def connects_in(self, sandbox: Sandbox) -> bool:
        """Whether commands connect directly: they have no network of their own, and every host is allowed."""
        is_open = self.setting == "on" or (self.setting == "ask" and self.is_open)
        return is_open and not sandbox.has_own_network


NO_NETWORK: Final = CommandNetwork()

NO_RETRIES: Final[Mapping[str, str]] = {
    "BUNDLE_RETRY": "0",
    "CARGO_NET_RETRY": "0",
    "PIP_RETRIES": "1",  # pip says why it fails only if it tries again
    "UV_HTTP_RETRIES": "0",
    "npm_config_fetch_retries": "0",
}
"""Variables that keep installs from retrying without a network: npm retries for over a minute before it says
that it needs one."""


def _npmrc(root: Path) -> str:
    """The project's own settings of npm."""
    try:
        return (content_of(root / ".npmrc", most=_MOST_NPMRC) or b"").decode("utf-8", "replace")
    except OSError:
        return ""


@asynccontextmanager
async def online(
    sandbox: Sandbox,
    argv: Argv,
    environ: Mapping[str, str],
    terms: Terms,
    gate: HostGate,
    internet: Internet,
) -> AsyncIterator[Launch]:
    """The terms for starting the command; leave the context once it has ended. The proxy serves until then.

    Raises:
        OSError: the socket or the proxy can't be created.
    """
    with handover() as (ours, theirs):
        wrapping = sandbox.wrap(argv, environ, replace(terms, listener_to=theirs))
        async with in_thread(wrapping) as launch:
            password = gate.password if launch.shares_network else ""
            serving = asyncio.create_task(_serve(ours, gate, internet, password))
            try:
                yield replace(launch, environ={**launch.environ, **proxy_environment(password)})
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)
                await gate.close()


async def _serve(ours: socket.socket, gate: HostGate, internet: Internet, password: str) -> None:
    from keen_tui.tools.network.proxy import Proxy  # noqa: PLC0415 - with h11, not before it is used

    with suppress(NoListener):  # the command ended before it really started
        await Proxy(gate, internet, password=password).serve(await handed_out(ours))
