"""Names of work trees: what may be one, and new ones."""

from __future__ import annotations

import re
import secrets
from typing import Final

from keen_tui.domain.errors import ConfigError
from keen_tui.text.sanitize import clean

PREFIX: Final = "keen/"
"""The beginning of the branch of a work tree; its name follows."""

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.|lock$|$)){0,59}")

_KINDS: Final = [
    "amber",
    "autumn",
    "brave",
    "bright",
    "calm",
    "clear",
    "copper",
    "crisp",
    "early",
    "fresh",
    "gentle",
    "golden",
    "green",
    "keen",
    "lively",
    "mellow",
    "nimble",
    "quick",
    "quiet",
    "silver",
    "solid",
    "sunny",
    "swift",
    "warm",
]
_THINGS: Final = [
    "acorn",
    "badger",
    "birch",
    "brook",
    "cedar",
    "clover",
    "comet",
    "falcon",
    "fern",
    "finch",
    "harbor",
    "heron",
    "lark",
    "maple",
    "meadow",
    "otter",
    "pebble",
    "pine",
    "raven",
    "river",
    "robin",
    "sparrow",
    "thistle",
    "willow",
]


def require_name(name: str) -> None:
    """Raises ConfigError if a work tree can't have that name: it becomes a folder and part of a branch."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"A work tree can't be named {clean(name)[:80]!r}. Use letters, digits, dots, hyphens and "
            "underscores, at most 60, with a letter or digit first: --worktree fix-login."
        )


def new_name() -> str:
    """A name that nobody chose, such as calm-otter-3f."""
    return f"{secrets.choice(_KINDS)}-{secrets.choice(_THINGS)}-{secrets.token_hex(1)}"
