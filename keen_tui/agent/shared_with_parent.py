"""The objects that a sub-agent's session shares with its parent's."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from keen_tui.agent.turn.approvals import Grants
from keen_tui.agent.turn.pace import Pace
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.domain.events import Event


def _ignore(event: Event) -> None:
    """Does nothing."""


class Shared(Struct, kw_only=True):
    """`clock` stops while the person is asked, and lets only one question be asked at a time. `grants` are
    the permissions that the person gave for the session; a sub-agent with a work tree has its own grants.
    `pace` holds requests back during a rate limit. `agent` is the sub-agent's name and `role` a part of its
    system prompt, both "" for a session that isn't a sub-agent's. `hear` is called with each event."""

    clock: WorkClock
    grants: Grants = field(default_factory=Grants)
    pace: Pace = field(default_factory=Pace)
    agent: str = ""
    role: str = ""
    hear: Callable[[Event], None] = _ignore
