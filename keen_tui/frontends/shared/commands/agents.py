"""The command about sub-agents: shows how they are defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.command import Command, CommandContext

if TYPE_CHECKING:
    from keen_tui.settings.added.agents import AgentDefinition

NO_AGENTS = "There are no sub-agents here."


async def agents(context: CommandContext, words: str) -> None:
    """Show the definitions of sub-agents."""
    from keen_tui.frontends.shared.pages import AgentsPage

    setup = context.setup
    if not (setup.agents or setup.agent_problems):
        raise SessionRefused(NO_AGENTS)
    await context.ui.show(AgentsPage(setup.agents, setup.agent_problems))


def rights_of(agent: AgentDefinition) -> tuple[str, ...]:
    """Returns the rights of a sub-agent, each in a few words."""
    facts = (
        agent.rights,
        agent.model and f"model {agent.model}",
        agent.mode and f"mode {agent.mode}",
        agent.isolation and "in its own work tree",
        agent.max_steps and f"at most {agent.max_steps:,} steps",
    )
    return tuple(fact for fact in facts if fact)


AGENTS = Command(
    id="agents",
    keys=(),
    label="Sub-agents",
    slash=("agents",),
    help="lists the sub-agents, what they are for and what they may do",
    does=agents,
)
COMMANDS = (AGENTS,)
