"""How the user wants the panels, kept in a small file of the program's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

_MOST_BYTES: Final = 10_000
_PRIVATE: Final = 0o600


class PanelChoices(Struct, frozen=True):
    """The content of the file. `sidebar_columns` is 0 if the width of the terminal decides. `activity_open`:
    Activity shows all calls, even if none takes long."""

    sidebar_columns: int = 0
    activity_open: bool = False


def kept_choices(file: Path | None) -> PanelChoices:
    """Returns the saved choices, or the defaults if the file can't be read."""
    if file is None:
        return PanelChoices()
    try:
        with file.open("rb") as opened:
            kept = msgspec.json.decode(opened.read(_MOST_BYTES), type=PanelChoices)
    except (OSError, msgspec.DecodeError):
        return PanelChoices()
    return kept if kept.sidebar_columns >= 0 else PanelChoices()


def keep_choices(file: Path, choices: PanelChoices) -> None:
    """Write the choices down. Raises OSError."""
    from keen_tui.system.atomic_write import put_file  # noqa: PLC0415
    from keen_tui.system.safe_read import content_of  # noqa: PLC0415 - not before the first paint

    place = Path(os.path.realpath(file))
    content = msgspec.json.encode(choices) + b"\n"
    put_file(place, content, content_of(place, most=_MOST_BYTES), mode=_PRIVATE)
