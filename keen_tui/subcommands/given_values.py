"""Checks flags whose values are names on this machine, before a missing model is reported."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from keen_tui.domain.errors import ConfigError
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.subcommands.completion import VALUES
from keen_tui.system.paths import data_folder
from keen_tui.text.nearest import did_you_mean, either
from keen_tui.text.sanitize import clean

_KINDS: Final = {"provider": "providers", "effort": "efforts", "theme": "themes"}
"""Flags, each with the kind of its values."""


def require_known(given: Mapping[str, Any], environ: Mapping[str, str], *, has_model: bool) -> None:
    """Check the names of providers, efforts, themes and sessions that the command line gives. Blocks. With
    `has_model` the effort isn't checked: the model says later which ones it has.

    Raises:
        ConfigError: there is no provider, effort or theme of that name.
        SessionUnknown: no session, or several, have that id.
        StorageFailed: the folder of the sessions can't be read.
    """
    for flag, kind in _KINDS.items():
        value = "" if flag == "effort" and has_model else given.get(flag, "")
        known = list(_known(kind, environ)) if value else []
        if known and value not in known:
            meant = did_you_mean(value, known) or f" Choose {either(known)}."
            raise ConfigError(f"There is no {flag} {clean(value)!r}.{meant}")
    if "resume" in given:
        SessionStore(data_folder(environ)).path_of(given["resume"])


def _known(kind: str, environ: Mapping[str, str]) -> Mapping[str, None]:
    """The values of a kind; none if one of their files can't be read, which is reported later."""
    with suppress(ConfigError, OSError, ValueError):
        return dict.fromkeys(VALUES[kind](environ, Path.cwd()))
    return {}
