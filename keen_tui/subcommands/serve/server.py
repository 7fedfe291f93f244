"""Runs the server until a signal ends it together with all programs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from typing import Final, TextIO

from aiohttp import web

from keen_tui.domain.errors import ConfigError
from keen_tui.subcommands.serve.access import LOOPBACK, ServeAccess
from keen_tui.subcommands.serve.site import ServeOptions, Site

_PATIENCE: Final = 20.0
"""Seconds that all programs may take to end."""


async def serve(
    address: str, port: int, options: ServeOptions, environ: Mapping[str, str], out: TextIO
) -> None:
    """Serve on that address and port until SIGINT, SIGTERM or SIGHUP comes. Port 0 takes any free port.

    Raises:
        ConfigError: the address or the port can't be used.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    access = ServeAccess(address)
    app = Site(access, options, environ).app()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_PATIENCE, handle_signals=False)
    await runner.setup()
    try:
        await _listen(runner, address, port)
        for line in _said(address, runner.addresses[0][1], access):
            print(line, file=out)
        out.flush()
        await ended.wait()
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, address: str, port: int) -> None:
    try:
        await web.TCPSite(runner, address, port).start()
    except OSError as error:
        raise ConfigError(
            f"{address}, port {port}, can't be used: {error.strerror or error}. Choose another with --port."
        ) from error


def _said(address: str, port: int, access: ServeAccess) -> tuple[str, ...]:
    """The lines to print: the address, and warnings."""
    host = f"[{address}]" if ":" in address else address
    lines = (
        "Keen is served at this address. Anyone who has it can use Keen as you:",
        f"  http://{host}:{port}/?token={access.token}",
        "Press ctrl+c to end the server with all its pages.",
    )
    if address in LOOPBACK:
        return lines
    return (
        *lines,
        f"! Other machines can reach {address}, and the connection is not encrypted: whoever can listen on "
        "the network sees the token and everything you do. An ssh tunnel to 127.0.0.1 is safer.",
    )
