"""The sub-agents of a session, as a front end sees them."""

from __future__ import annotations

from typing import Protocol

from keen_tui.domain.agents import WatchedAgent


class AgentsPort(Protocol):
    """Sub-agents, each by the id of the call that began it."""

    async def watch(self, call_id: str, session_id: str) -> WatchedAgent:
        """Look at one; `session_id` is that of its session, "" if it isn't known. Raises KeenError."""

    def stop(self, call_id: str) -> None:
        """Stop one alone. No effect if it doesn't run."""
