"""Checks flags whose values are names on this machine, before a missing model is reported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from keen_tui.domain.errors import ConfigError, SessionUnknown
from keen_tui.storage.sessions import SessionStore
from keen_tui.subcommands.completion import VALUES
from keen_tui.system.paths import data_folder
from keen_tui.text.nearest import did_you_mean, either
from keen_tui.text.sanitize import clean

_KINDS: Final = {"provider": "providers", "effort": "efforts", "theme": "themes"}
"""Flags, each with the kind of its values."""


def require_known(given: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    """Raises ConfigError: there is no provider, effort, theme or session of the name that the command line
    gives. Blocks."""
    for flag, kind in _KINDS.items():
        if value := given.get(flag):
            known = list(dict.fromkeys(VALUES[kind](environ, Path.cwd())))
            if value not in known:
                meant = did_you_mean(value, known) or f" Choose {either(known)}."
                raise ConfigError(f"There is no {flag} {clean(value)!r}.{meant}")
    if "resume" in given:
        try:
            SessionStore(data_folder(environ)).path_of(given["resume"])
        except SessionUnknown as unknown:
            raise ConfigError(str(unknown)) from unknown
