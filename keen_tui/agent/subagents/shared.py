"""What the session of a sub-agent shares with the session that it belongs to."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from keen_tui.agent.subagents.pace import Pace
from keen_tui.agent.turn.approvals import Grants
from keen_tui.agent.turn.work_clock import WorkClock
from keen_tui.domain.events import Event


def _ignore(event: Event) -> None:
    """Nobody listens."""


class Shared(Struct, kw_only=True):
    """`clock` stands still while the person is asked, and lets one question at a time be asked. `grants` are
    what the person has allowed for the session; a sub-agent in another folder has its own. `pace` is when the
    model's server takes the next request. `agent` is the sub-agent's name and `role` what it is told of its
    work, both "" for a session that is none; `hear` is told each event."""

    clock: WorkClock
    grants: Grants = field(default_factory=Grants)
    pace: Pace = field(default_factory=Pace)
    agent: str = ""
    role: str = ""
    hear: Callable[[Event], None] = _ignore
