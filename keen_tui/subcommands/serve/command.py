"""The command `keen-tui serve`: its own flags, and the flags that it passes to its programs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from keen_tui.domain.errors import ConfigError
from keen_tui.domain.reports import SavedSession
from keen_tui.settings.flags import parser
from keen_tui.settings.line_flags import LineFlag, flag_groups
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.subcommands.sessions import asked_for
from keen_tui.system.paths import data_folder
from keen_tui.text.sanitize import clean

_OWN: Final = ("port", "address", "clients", "idle_minutes", "words", "resume", "go_on", "fork", "worktree")
"""Flags that programs don't get: those of `serve`, those about the session of the first page, and the work
tree, which the server has entered."""


def run(given: Mapping[str, Any], environ: Mapping[str, str], folder: Path, out: TextIO) -> int:
    """Serve until a signal ends the server. Returns the exit code.

    Raises:
        ConfigError: a flag is wrong, the address can't be used, the extra isn't installed, or there is no
            such session.
        StorageFailed: the session can't be read.
    """
    clients, idle = given.get("clients", 4), given.get("idle_minutes", 60.0)
    if clients < 1:
        raise ConfigError("--clients must be at least 1.")
    if not 0 < idle < math.inf:
        raise ConfigError("--idle-minutes must be more than 0.")
    if not given.get("address", "127.0.0.1").strip():
        raise ConfigError("--address must name an address, such as 127.0.0.1.")
    if not 0 <= given.get("port", 0) <= 65_535:
        raise ConfigError("--port must be a number from 0 to 65535.")
    try:
        from keen_tui.subcommands.serve.server import serve  # noqa: PLC0415 - of an extra
        from keen_tui.subcommands.serve.site import ServeOptions  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "keen-tui serve needs the extra serve, which isn't installed: pipx install --force '.[serve]' in "
            "Keen's folder."
        ) from error
    first = asked_for(given, SessionStore(data_folder(environ)))
    options = ServeOptions(
        arguments=tuple(program_flags(given)),
        clients=clients,
        idle_seconds=idle * 60,
        folder=folder,
        first_session=first.id if first else "",
    )
    for line in (*given.get("entered", ()), *_continued(first)):
        print(line, file=out)
    asyncio.run(serve(given.get("address", "127.0.0.1"), given.get("port", 0), options, environ, out))
    return 0


def _continued(first: SavedSession | None) -> Iterator[str]:
    if first:
        title = f": {clean(first.title)}" if first.title else ""
        yield f"The first page continues the session {first.id}{title}"


def program_flags(given: Mapping[str, Any]) -> Iterator[str]:
    """The given flags as arguments of a command line, without those of `serve`."""
    actions = {name: action for action in parser()._actions for name in action.option_strings}
    for flag in (flag for group in flag_groups() for flag in group.flags):
        action = actions[flag.names[-1]]
        if action.dest in given and action.dest not in _OWN:
            yield from _typed(flag, given[action.dest])


def _typed(flag: LineFlag, value: Any) -> Sequence[str]:
    name = flag.names[-1]
    if flag.metavar:
        values = value if isinstance(value, list) else [value]
        return [f"{name}={each}" for each in values]
    constant = flag.options.get("const", True)
    if value == constant:
        return [name]
    return [name.replace("--", "--no-", 1)] if value is False else []
