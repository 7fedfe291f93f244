"""The locale that the user's environment names. Light: the first paint reads it."""

from __future__ import annotations

from collections.abc import Mapping

from keen_tui.system.own_process import environ_at_start

_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
"""Values that Python itself puts into LC_CTYPE when it is started in the C locale (PEP 538)."""


def locale_of(environ: Mapping[str, str], given: bytes | None = None) -> str:
    """The locale of characters, "" where none is named. `given` is the environment that the program was
    started with, as Linux keeps it: without it that is read where it matters."""
    ctype = environ.get("LC_CTYPE", "")
    if ctype in _COERCED and not _was_given(given):
        ctype = ""
    return environ.get("LC_ALL") or ctype or environ.get("LANG") or ""


def _was_given(given: bytes | None) -> bool:
    """Whether LC_CTYPE was there when the program began; where that can't be seen, it counts as given."""
    given = environ_at_start() if given is None else given
    if given is None:
        return True
    return any(entry.startswith(b"LC_CTYPE=") for entry in given.split(b"\0"))
