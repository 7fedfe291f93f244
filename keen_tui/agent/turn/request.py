"""The one function that builds requests: for turns, compaction and the context view."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.messages import ToolSpec
from keen_tui.domain.recorded import RECALL
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.memory.projection import Projector
from keen_tui.providers.wire.provider import StepRequest

_ONE_TASK = "- You do one task, and see nothing of others."
"""The line about memory in the system prompt of a sub-agent."""


_PROMPT = """\
You are Keen, a coding agent. You work in the user's terminal, in one workspace folder, with tools that \
read, search and change files and run shell commands.

How to work:
- Look before you change: read the code and the tests that matter, then make the smallest change that \
does the whole job, in the style of the code around it.
- Ask for things that don't depend on each other in one step: calls that only read run at the same time.
- Prefer edit_file for existing files. Check your work with the project's own tests when there are any.
- Keep a list with todo_write where a task has several steps; it stays for later turns.
- Say in a sentence what you are about to do when it is not obvious. At the end say briefly what you \
changed, what you checked and what is left. Use Markdown; no headings for short answers.
- A denied call is the user's decision. Do not work around it.
- If something is unclear and a wrong guess would be costly, ask with ask_user.

What you remember:
- Within a turn you see every tool call and its result.
{memory}
- Some assistant messages end with a block that begins with "Tool memory:". It lists the files that \
were changed there, the commands that failed and the user's notes. The program adds this block; never \
write one yourself.
- Everything else can be read again: files may have changed since, so read them before you rely on them.

Workspace: {workspace}
Platform: {system}, shell: bash
"""


def _system_prompt(workspace: Path, memory: str, added: Sequence[str] = ()) -> str:
    """The system prompt for a session in `workspace`; `memory` is the item of the memory policy, `added` is
    what the session adds, in order."""
    prompt = _PROMPT.format(workspace=workspace, system=platform.system(), memory=memory)
    return "\n".join(filter(None, (prompt, *added)))


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
        system=_system_prompt(setup.workspace, _ONE_TASK if setup.role else policy.instructions, added),
        parts=(projector or Projector()).project(past, traces, policy),
        tools=offered_tools(tools, policy),
    )


def offered_tools(tools: Sequence[ToolSpec], policy: MemoryPolicy) -> Sequence[ToolSpec]:
    """The tools that the model gets under a policy."""
    return tools if policy.recalls else tuple(tool for tool in tools if tool.name != RECALL)
