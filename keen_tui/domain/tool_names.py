"""Keen's own tools by name, and what other agents call them: in hooks, in definitions of sub-agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct


class UsualNames(Struct, frozen=True):
    """The usual name of a tool, and the usual names of its arguments where they differ."""

    name: str
    arguments: Mapping[str, str] = {}


_PATH: Final = {"path": "file_path"}

OWN_TOOLS: Final[Mapping[str, UsualNames]] = {
    "read_file": UsualNames("Read", _PATH),
    "write_file": UsualNames("Write", _PATH),
    "edit_file": UsualNames("Edit", {**_PATH, "old_text": "old_string", "new_text": "new_string"}),
    "glob_files": UsualNames("Glob"),
    "grep_files": UsualNames("Grep"),
    "bash": UsualNames("Bash"),
    "task_output": UsualNames("task_output"),
    "task_stop": UsualNames("task_stop"),
    "ask_user": UsualNames("AskUserQuestion"),
    "todo_write": UsualNames("TodoWrite"),
    "propose_plan": UsualNames("ExitPlanMode"),
    "recall": UsualNames("recall"),
    "web_fetch": UsualNames("WebFetch"),
    "web_search": UsualNames("WebSearch"),
    "skill": UsualNames("Skill", {"name": "skill"}),
    "mcp_search": UsualNames("mcp_search"),
}
"""Every tool that a sub-agent can have but those of MCP servers, with its usual name; its own if there is no
other. `web_search` is the provider's."""

_PARENT_ONLY: Final[Mapping[str, UsualNames]] = {"task": UsualNames("Task", {"agent": "subagent_type"})}
"""What no sub-agent has."""

NAMES: Final = frozenset((*OWN_TOOLS, *_PARENT_ONLY))
"""The names of all tools of Keen's."""


def usual_names(tool: str) -> UsualNames:
    """The usual names of a tool; of one that isn't Keen's, its own."""
    return OWN_TOOLS.get(tool) or _PARENT_ONLY.get(tool) or UsualNames(tool)
