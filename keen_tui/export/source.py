"""What an export is made from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from keen_tui.domain.events import Event


class ExportSource(Struct, frozen=True, kw_only=True):
    """A session with its events in order. `began` is in seconds since the epoch.

    `title` may be "": then a name that the user gave it, or else the first message, stands for it.
    """

    title: str
    session_id: str
    workspace: str
    began: float
    model: str
    events: Sequence[Event]
