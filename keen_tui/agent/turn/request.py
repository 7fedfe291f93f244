"""The one function that builds requests: for turns, compaction and the context view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keen_tui.agent.turn.prompt import system_prompt
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.messages import ToolSpec
from keen_tui.domain.recorded import RECALL
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.memory.projection import Projector
from keen_tui.providers.wire.provider import StepRequest

_ONE_TASK = "- You do one task, and see nothing of others."
"""What a sub-agent remembers, for the system prompt."""


def step_request(
    past: Past,
    traces: Iterable[PendingTrace],
    policy: MemoryPolicy,
    setup: TurnSetup,
    tools: Sequence[ToolSpec],
    projector: Projector | None = None,
) -> StepRequest:
    """A model call that continues from `past`, whose last message is the user's, and from the traces. The
    session's `projector` reuses the parts of its request before."""
    servers = setup.toolbox.servers
    said = servers.instructions if servers else ""
    added = (setup.role, setup.skills, said, setup.instructions.text, setup.hooks.session_context)
    return StepRequest(
        system=system_prompt(setup.workspace, _ONE_TASK if setup.role else policy.instructions, added),
        parts=(projector or Projector()).project(past, traces, policy),
        tools=offered_tools(tools, policy),
    )


def offered_tools(tools: Sequence[ToolSpec], policy: MemoryPolicy) -> Sequence[ToolSpec]:
    """The tools that the model gets under a policy."""
    return tools if policy.recalls else tuple(tool for tool in tools if tool.name != RECALL)
