"""Keen's own tools as the rest of the program knows them, one row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

ToolKind = Literal["read", "edit", "search", "execute", "fetch", "think", "switch_mode", "other"]
"""What a call does, in the words of the Agent Client Protocol."""

_PATH: Final = {"path": "file_path"}


class OwnTool(Struct, frozen=True, kw_only=True):
    """What is known of a tool besides its class. A tool without a row has the values that stand here.

    `label` is its name in the rows of the screen, of which the transcript shows five letters. `usual` is the
    name that other agents give it: in hooks, in definitions of sub-agents; `aliases` are further ones, in
    lower case. `arguments` are the usual names of its arguments where they differ. `reads`: it changes
    nothing on this machine, so wherever a call of it was cut, its effects are known. `takes_path`: its target
    is the path of a file. `of` says who has it: every session, only the person's own, or only a review.
    """

    name: str
    label: str = ""
    usual: str = ""
    kind: ToolKind = "other"
    arguments: Mapping[str, str] = {}
    aliases: tuple[str, ...] = ()
    reads: bool = False
    takes_path: bool = False
    of: Literal["all", "person", "review"] = "all"

    @property
    def usual_name(self) -> str:
        """The name that other agents give it; its own if there is no other."""
        return self.usual or self.name


_TABLE: Final = (
    OwnTool(
        name="read_file", label="read", usual="Read", kind="read", reads=True,
        takes_path=True, arguments=_PATH, aliases=("notebookread",),
    ),
    OwnTool(
        name="write_file", label="write", usual="Write", kind="edit", takes_path=True, arguments=_PATH
    ),
    OwnTool(
        name="edit_file", label="edit", usual="Edit", kind="edit", takes_path=True, aliases=("multiedit",),
        arguments={**_PATH, "old_text": "old_string", "new_text": "new_string"},
    ),
    OwnTool(name="glob_files", label="glob", usual="Glob", kind="search", reads=True, aliases=("ls",)),
    OwnTool(name="grep_files", label="grep", usual="Grep", kind="search", reads=True),
    OwnTool(name="bash", usual="Bash", kind="execute"),
    OwnTool(
        name="task_output", label="output", kind="read", reads=True, aliases=("taskoutput", "bashoutput")
    ),
    OwnTool(
        name="task_stop", label="stop", kind="execute", aliases=("taskstop", "killshell", "killbash")
    ),
    OwnTool(name="ask_user", label="ask", usual="AskUserQuestion", reads=True),
    OwnTool(name="todo_write", label="todo", usual="TodoWrite", kind="think", reads=True),
    OwnTool(
        name="propose_plan", label="plan", usual="ExitPlanMode", kind="switch_mode", reads=True, of="person"
    ),
    OwnTool(name="recall", label="past", kind="read", reads=True, of="person"),
    OwnTool(name="web_fetch", label="fetch", usual="WebFetch", kind="fetch", reads=True),
    OwnTool(name="web_search", label="web", usual="WebSearch", kind="fetch", reads=True),  # the provider's
    OwnTool(name="skill", usual="Skill", kind="read", reads=True, arguments={"name": "skill"}),
    OwnTool(name="mcp_search", label="mcp", reads=True, aliases=("toolsearch",)),
    OwnTool(name="task", label="agent", usual="Task", kind="think", arguments={"agent": "subagent_type"}),
    OwnTool(name="report_findings", label="report", reads=True, of="review"),
)  # fmt: skip

OWN_TOOLS: Final[Mapping[str, OwnTool]] = {tool.name: tool for tool in _TABLE}
"""The rows by the names of the tools."""

TASK: Final = "task"
"""The tool that starts a sub-agent. Sub-agents start none themselves."""

FOR_AGENTS: Final = tuple(tool for tool in _TABLE if tool.of != "review" and tool.name != TASK)
"""The tools that a definition of a sub-agent may name."""


def own_tool(name: str) -> OwnTool:
    """The row of a tool; of one that has none, a row with its name."""
    return OWN_TOOLS.get(name) or OwnTool(name=name)
