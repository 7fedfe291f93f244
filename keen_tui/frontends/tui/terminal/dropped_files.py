"""A file that was dropped on the terminal arrives as its path, quoted in one way or another."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from keen_tui.domain.messages import IMAGE_SUFFIXES
from keen_tui.frontends.shared.mentions import mention

_LONGEST: Final = 2_000


def may_be_image(text: str) -> bool:
    """Whether a text that was pasted could be the path of an image. Costs nothing."""
    words = text.strip()
    return (
        len(words) <= _LONGEST and "\n" not in words and words.strip("'\"").lower().endswith(IMAGE_SUFFIXES)
    )


def dropped_image(text: str, workspace: Path) -> str | None:
    """The path of an image that is there, as a message names it; None for any other text. Blocks."""
    try:
        path = _path_in(text.strip())
        return mention(path, workspace) if path and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # too long, out of reach, no address, a home that nobody has
        return None


def _path_in(text: str) -> Path | None:
    """The absolute path that a text is, whoever quoted it: with quotes, backslashes, as an address."""
    if text.startswith("file://"):
        address = urlsplit(text)
        return Path(unquote(address.path)) if address.hostname in (None, "localhost") else None
    for said in (text, *_unquoted(text)):
        path = Path(said).expanduser() if said.startswith(("/", "~/")) and '"' not in said else None
        if path and path.exists():
            return path
    return None


def _unquoted(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    return words if len(words) == 1 else []
