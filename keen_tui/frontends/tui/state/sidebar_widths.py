"""How wide the user made the panels, kept in a small file of the program's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

_MOST_BYTES: Final = 10_000
_PRIVATE: Final = 0o600


class _Kept(Struct):
    """What the file holds. `sidebar_columns` is 0 where the width of the terminal shall say it."""

    sidebar_columns: int = 0


def kept_columns(file: Path | None) -> int:
    """The columns that the user wants, 0 for none in particular. A file that can't be read is none."""
    if file is None:
        return 0
    try:
        with file.open("rb") as opened:
            kept = msgspec.json.decode(opened.read(_MOST_BYTES), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return 0
    return max(kept.sidebar_columns, 0)


def keep_columns(file: Path, columns: int) -> None:
    """Write them down. Raises OSError."""
    from keen_tui.system.atomic_write import put_file  # noqa: PLC0415
    from keen_tui.system.safe_read import content_of  # noqa: PLC0415 - not before the first paint

    place = Path(os.path.realpath(file))
    content = msgspec.json.encode(_Kept(columns)) + b"\n"
    put_file(place, content, content_of(place, most=_MOST_BYTES), mode=_PRIVATE)
