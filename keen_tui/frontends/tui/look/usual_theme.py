"""Where themes are, and which one a terminal gets where none was chosen. Standard library only: the first
picture needs it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import keen_tui

DEFAULT_THEME: Final = "keen-dark"
SIXTEEN_COLOURS: Final = "keen-ansi16"
"""The terminal's own sixteen colours, on a dark ground; with `-light` behind it on a light one."""

_MANY_COLOURS: Final = ("kitty", "256color")
"""Endings of the names of terminals with more than sixteen colours."""
_LIGHT_GROUNDS: Final = ("7", "15")


def theme_for(wanted: str, environ: Mapping[str, str]) -> str:
    """The name of the theme to use: the `wanted` one, or for "" what the terminal can show.

    keen-ansi16 takes its light half where COLORFGBG says that the terminal has a light ground.
    """
    name = wanted or (DEFAULT_THEME if _has_many_colours(environ) else SIXTEEN_COLOURS)
    if name == SIXTEEN_COLOURS and environ.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_GROUNDS:
        return f"{name}-light"
    return name


@cache
def shipped_folder() -> Path:
    """Where the shipped theme files are: inside the wheel, or beside the package in a working copy."""
    package = Path(keen_tui.__path__[0])
    packaged = package / "themes"
    return packaged if packaged.is_dir() else package.parent / "themes"


def _has_many_colours(environ: Mapping[str, str]) -> bool:
    """As rich tells it, which does the painting. Without colours it makes no difference."""
    if "NO_COLOR" in environ or environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return True
    return environ.get("TERM", "").strip().lower().rpartition("-")[2] in _MANY_COLOURS
