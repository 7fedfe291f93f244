"""A sub-agent, as front ends see it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from keen_tui.domain.bus import Subscription
from keen_tui.domain.events import OwnEvent


class WatchedAgent(Struct, frozen=True):
    """The id of its session, the events so far, and a reader of those to come; None: it doesn't work now."""

    session_id: str
    events: Sequence[OwnEvent]
    reader: Subscription | None
