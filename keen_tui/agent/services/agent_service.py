"""The sub-agents of a session, for front ends."""

from __future__ import annotations

import asyncio

from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.domain.agents import WatchedAgent
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import AgentEvent
from keen_tui.storage.lookup.sessions import SessionStore


class AgentService:
    """Shows them at work or as they were saved, and stops them."""

    def __init__(self, agents: SubAgents, store: SessionStore) -> None:
        self._agents = agents
        self._store = store

    async def watch(self, call_id: str, session_id: str) -> WatchedAgent:
        """Look at one; `session_id` is that of its session, "" if it isn't known. Raises KeenError."""
        agent = self._agents.find(call_id)
        if agent and agent.session:
            return WatchedAgent(agent.session_id, agent.events.all, agent.session.bus.subscribe())
        session_id = agent.session_id if agent else session_id
        if not session_id:
            raise SessionRefused("This sub-agent hasn't begun.")
        path = await asyncio.to_thread(self._store.path_of, session_id)
        saved = await asyncio.to_thread(self._store.read, path)
        events = (record.event for record in saved.records)
        own = [event for event in events if not isinstance(event, AgentEvent)]
        return WatchedAgent(session_id, own, None)

    def stop(self, call_id: str) -> None:
        """Stop one alone. No effect if it doesn't run."""
        self._agents.stop(call_id)
