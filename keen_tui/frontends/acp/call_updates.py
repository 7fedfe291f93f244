"""Updates of the protocol for tool calls, from their start to their end."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from acp.helpers import plan_entry, text_block, tool_content, update_plan
from acp.schema import (
    AgentPlanUpdate,
    PlanEntryStatus,
    TerminalToolCallContent,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
)

from keen_tui.domain.display import CommandDisplay, TodoDisplay, TodoStatus
from keen_tui.domain.events import (
    AgentEvent,
    ApprovalAnswered,
    ApprovalRequested,
    ShellFinished,
    ShellStarted,
    ToolFinished,
    ToolOutput,
    ToolStarted,
)
from keen_tui.frontends.acp import numbers
from keen_tui.frontends.acp.tool_calls import (
    changed_places,
    content_of_question,
    content_of_result,
    fenced,
    kind_of,
    places_of,
    status_of,
    title_of,
)
from keen_tui.frontends.shared.lines.sentences import own_command_ends
from keen_tui.text.labels import asker_and
from keen_tui.text.outcomes import not_done_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

CallUpdate = ToolCallStart | ToolCallProgress | AgentPlanUpdate

_PLAN: Final[dict[TodoStatus, PlanEntryStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "done": "completed",
}
_LIVE: Final = 8_000
"""The most characters of a running command's output that are shown: the newest."""

_MOST: Final = 30
"""Steps that are shown, the newest."""
_TICKS: Final = re.compile("`+")


class CallUpdates:
    """The updates for the calls of one session.

    Args:
        terminals: the editor shows the output of commands in its own terminal view.
    """

    def __init__(self, workspace: Path, *, terminals: bool) -> None:
        self.is_past = False
        """Whether a saved session is being opened: its files may have changed since these calls."""
        self._workspace = workspace
        self._terminals = terminals
        self._begun: set[str] = set()
        self._of_agents: set[str] = set()
        self._outputs: dict[str, str] = {}
        self._steps: dict[str, AgentSteps] = {}
        self._own_call = ""

    def begins(self, event: ToolStarted) -> ToolCallStart:
        """The update when a call begins."""
        self._begun.add(event.id)
        shows_terminal = self._terminals and event.name == "bash"
        terminal = TerminalToolCallContent(type="terminal", terminal_id=event.id)
        info = {"terminal_info": {"terminal_id": event.id, "cwd": str(self._workspace)}}
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=event.id,
            title=title_of(event.name, event.target),
            kind=kind_of(event.name),
            status="in_progress",
            locations=places_of(event.name, event.arguments, self._workspace) or None,
            raw_input=dict(event.arguments),
            content=[terminal] if shows_terminal else None,
            field_meta={"keen/tool": event.name, **(info if shows_terminal else {})},
        )

    async def asks(self, event: ApprovalRequested) -> ToolCallStart | ToolCallProgress:
        """The update when a call waits for approval: what it would do."""
        content = await content_of_question(event.display, self._workspace)
        places = changed_places(event.display, self._workspace)
        if event.id in self._begun:
            return ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=event.id,
                status="pending",
                content=content or None,
                locations=places or None,
            )
        self._of_agents.add(event.id)
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=event.id,
            title=asker_and(event.agent, title_of(event.name, event.target)),
            kind=kind_of(event.name),
            status="pending",
            content=content or None,
            locations=places or None,
            raw_input=dict(event.arguments),
        )

    def answered(self, event: ApprovalAnswered) -> ToolCallProgress:
        """The update when an approval was answered. For a sub-agent's call it is the last one."""
        is_last = event.id in self._of_agents
        self._of_agents.discard(event.id)
        status: ToolCallStatus = "failed" if is_last else "in_progress"
        if event.allowed and is_last:
            status = "completed"
        return ToolCallProgress(session_update="tool_call_update", tool_call_id=event.id, status=status)

    async def ends(self, event: ToolFinished) -> AsyncIterator[CallUpdate]:
        """The updates when a call ends. A to-do list is also sent as a plan."""
        result = event.result
        self._begun.discard(event.id)
        shows_terminal = self._terminals and event.name == "bash"
        had_output = event.id in self._outputs
        self._outputs.pop(event.id, None)
        content = await content_of_result(
            result,
            self._workspace,
            reads=not self.is_past,
            shows_output=not shows_terminal,
        )
        meta = numbers.of_call(result, event.seconds)
        if steps := self._steps.pop(event.id, None):
            content = [tool_content(text_block(steps.text)), *content]
        if shows_terminal:
            content = [TerminalToolCallContent(type="terminal", terminal_id=event.id), *content]
            output = result.display.output if isinstance(result.display, CommandDisplay) else ""
            if output and not had_output:
                meta["terminal_output"] = {"terminal_id": event.id, "data": _for_terminal(output)}
            meta["terminal_exit"] = {"terminal_id": event.id, "exit_code": result.exit_code, "signal": None}
        places = changed_places(result.display, self._workspace)
        yield ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=event.id,
            status=status_of(result),
            content=content,
            locations=places or None,
            raw_output={"summary": result.summary},
            field_meta=meta,
        )
        if isinstance(result.display, TodoDisplay):
            entries = (plan_entry(item.text, status=_PLAN[item.status]) for item in result.display.items)
            yield update_plan(entries)

    def agent_works(self, event: AgentEvent, call: ToolStarted | ToolFinished) -> ToolCallProgress:
        """A call of a sub-agent has begun or ended: what the sub-agent has done so far."""
        steps = self._steps.setdefault(event.id, AgentSteps(event.agent))
        if isinstance(call, ToolStarted):
            steps.begin(call)
        else:
            steps.end(call)
        return ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=event.id,
            content=[tool_content(text_block(steps.text))],
        )

    def output(self, event: ToolOutput) -> ToolCallProgress:
        """The update for new output of a running call."""
        if self._terminals and event.id != self._own_call:
            self._outputs[event.id] = ""
            data = {"terminal_id": event.id, "data": _for_terminal(event.text)}
            return ToolCallProgress(
                session_update="tool_call_update", tool_call_id=event.id, field_meta={"terminal_output": data}
            )
        newest = (self._outputs.get(event.id, "") + event.text)[-_LIVE:]
        self._outputs[event.id] = newest
        return ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=event.id,
            content=[tool_content(text_block(fenced(newest, "console")))],
            field_meta={"keen/lines": event.lines, "keen/bytes": event.bytes},
        )

    def own_command_begins(self, event: ShellStarted) -> ToolCallStart:
        """The update when a command of the user's begins."""
        self._own_call = event.id
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=event.id,
            title=title_of("bash", event.command),
            kind="execute",
            status="in_progress",
            raw_input={"command": event.command},
        )

    def own_command_has_ended(self, event: ShellFinished) -> ToolCallProgress:
        """The update when a command of the user's ended."""
        display = event.result.display
        output = display.output if isinstance(display, CommandDisplay) else ""
        self._outputs.pop(event.id, None)
        texts = ([fenced(output, "console")] if output.strip() else []) + [own_command_ends(event)]
        return ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=event.id,
            status=status_of(event.result),
            content=[tool_content(text_block(text)) for text in texts],
            field_meta=numbers.of_call(event.result, event.seconds),
        )


def _for_terminal(text: str) -> str:
    """The text with CR LF line endings, so that each line starts at the left."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


class AgentSteps:
    """The tool calls of one sub-agent, in the order in which they began."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._titles: dict[str, str] = {}
        self._ends: dict[str, str] = {}

    def begin(self, call: ToolStarted) -> None:
        """Note that a call has begun."""
        self._titles[call.id] = title_of(call.name, call.target)

    def end(self, call: ToolFinished) -> None:
        """Note how a call has ended."""
        words = not_done_words(call.result)
        self._ends[call.id] = f": {words}" if words else (": failed" if call.result.is_error else "")

    @property
    def text(self) -> str:
        """The newest steps as a list in Markdown, each with its end if that isn't the usual one."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        earlier = max(len(self._titles) - _MOST, 0)
        yield f"Sub-agent {clean(self._agent)}, {counted(len(self._titles), 'call')}:\n"
        if earlier:
            yield f"- {earlier} earlier"
        for id, title in [*self._titles.items()][earlier:]:
            yield f"- {_as_code(title)}{self._ends.get(id, ' …')}"


def _as_code(text: str) -> str:
    """The text as code within a line of Markdown, whatever it contains."""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
