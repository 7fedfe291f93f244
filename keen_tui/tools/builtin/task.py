"""task: give a task to a sub-agent, which works in a context of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolSpec
from keen_tui.domain.own_tools import TASK
from keen_tui.settings.added.agents import BUILT_IN_SOURCE
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.calls.arguments import checked
from keen_tui.tools.calls.fitted_list import fitted_list
from keen_tui.tools.calls.tool import AgentOrder, PreparedCall, not_run

if TYPE_CHECKING:
    from keen_tui.settings.added.agents import AgentDefinition

"""The name of the tool."""

MOST_BYTES: Final = 16_384
"""Bytes of the names and descriptions of all sub-agents from files, which go into every request."""


def unseen_notice(agents: Sequence[AgentDefinition]) -> tuple[str, ...]:
    """A sentence with the numbers, if the model doesn't see the descriptions of all; else nothing."""
    lines, more = _listed(agents)
    if not more:
        return ()
    return (
        f"There are {len(agents):,} sub-agents. The model sees the descriptions of {len(lines):,}, and only "
        "the names of the others. Shorter descriptions make room for more.",
    )


class Task:
    """Checks a call; the session runs the sub-agent.

    Args:
        agents: those that can be called, at least one.
    """

    only_reads = False

    def __init__(self, agents: Sequence[AgentDefinition]) -> None:
        self._agents = {agent.name: agent for agent in agents}
        self.spec = ToolSpec(
            name=TASK,
            description=_description(agents),
            parameters={
                "type": "object",
                "properties": {
                    "agent": {"type": "string", "enum": list(self._agents), "description": "Its name."},
                    "prompt": {
                        "type": "string",
                        "description": "The whole task. The sub-agent sees nothing else.",
                    },
                },
                "required": ["agent", "prompt"],
            },
        )

    def only_reads_with(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the sub-agent of these arguments, which may be wrong, can only read."""
        agent = self._agents.get(str(arguments.get("agent")))
        return agent is not None and agent.only_reads

    def target(self, arguments: Mapping[str, Any]) -> str:
        agent, prompt = arguments.get("agent"), arguments.get("prompt")
        said = first_line(prompt)[:500] if isinstance(prompt, str) else ""
        return clean(": ".join(filter(None, (agent if isinstance(agent, str) else "", said))))

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        agent = self._agents.get(given["agent"])
        if agent is None:
            raise ToolFailure(
                f"there is no sub-agent {clean(given['agent'])[:80]!r}. There are: {', '.join(self._agents)}."
            )
        if not given["prompt"].strip():
            raise ToolFailure("task: the prompt is empty. Write what the sub-agent is to do.")
        order = AgentOrder(agent, given["prompt"])
        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=not_run, order=order)


def _description(agents: Sequence[AgentDefinition]) -> str:
    fitting, more = _listed(agents)
    rest = f"- and {more} more; the parameter `agent` lists their names"
    lines = "\n".join((*fitting, *([rest] if more else [])))
    return (
        "Give a task to a sub-agent. It works in its own context with its own tools, and you get only "
        "its last message and what it changed, so that long searches don't fill this conversation. It can't "
        "ask you anything, and it doesn't remember earlier tasks: put everything it needs to know into the "
        "prompt, including what to report. Sub-agents that only read run at the same time if you call them "
        f"in one step; the others run one after the other. The sub-agents are:\n{lines}"
    )


def _listed(agents: Sequence[AgentDefinition]) -> tuple[list[str], int]:
    """A line for each, those that are built in first and whole, and how many don't fit."""
    built_in = [f"- {each.name}: {each.description}" for each in agents if each.source == BUILT_IN_SOURCE]
    others = [(each.name, each.description) for each in agents if each.source != BUILT_IN_SOURCE]
    fitting, more = fitted_list(others, MOST_BYTES)
    return [*built_in, *fitting], more
