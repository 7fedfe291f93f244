"""Runs the server until a signal ends it together with all programs."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Mapping
from typing import Final, TextIO

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from keen_tui.domain.errors import ConfigError
from keen_tui.subcommands.serve.access import LOOPBACK, ServeAccess
from keen_tui.subcommands.serve.site import ServeOptions, Site
from keen_tui.text.sanitize import clean

_PATIENCE: Final = 20.0
"""Seconds that all programs may take to end."""
UNUSED_SECONDS: Final = 15.0
"""How long a connection may wait for its next request, or for the rest of one."""


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
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_log_without_requests(),
        keepalive_timeout=UNUSED_SECONDS,
        shutdown_timeout=_PATIENCE,
        handle_signals=False,
    )
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
    except UnicodeError as error:
        raise ConfigError(f"{clean(address)} can't be the name of an address.") from error


def _log_without_requests() -> logging.Logger:
    """The log of the server, without requests that can't be read: what is told of them quotes them, and they
    may hold the token."""
    log = logging.getLogger("aiohttp.server")
    log.addFilter(_is_of_server)
    return log


def _is_of_server(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _said(address: str, port: int, access: ServeAccess) -> tuple[str, ...]:
    """The lines to print: the address, and warnings."""
    host = f"[{address}]" if ":" in address else address
    lines = (
        "Keen is served at this address. Anyone who has it can use Keen as you:",
        f"  http://{host}:{port}/?token={access.token}",
        "Press ctrl+c to end the server with all its pages.",
    )
    if address.lower() in LOOPBACK:
        return lines
    return (
        *lines,
        f"! Other machines can reach {address}, and the connection is not encrypted: whoever can listen on "
        "the network sees the token and everything you do. An ssh tunnel to 127.0.0.1 is safer.",
    )
