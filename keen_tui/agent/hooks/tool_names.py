"""Tools and their arguments under the names that hooks written for other agents expect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.messages import ToolCall


class _UsualNames(Struct, frozen=True):
    """The usual name of a tool, and the usual names of its arguments where they differ."""

    name: str
    arguments: Mapping[str, str] = {}


_SUBJECTS: Final = ("command", "file_path", "url", "pattern", "path")
_PATH: Final = {"path": "file_path"}
_USUAL: Final[Mapping[str, _UsualNames]] = {
    "bash": _UsualNames("Bash"),
    "read_file": _UsualNames("Read", _PATH),
    "write_file": _UsualNames("Write", _PATH),
    "edit_file": _UsualNames("Edit", {**_PATH, "old_text": "old_string", "new_text": "new_string"}),
    "glob_files": _UsualNames("Glob"),
    "grep_files": _UsualNames("Grep"),
    "web_fetch": _UsualNames("WebFetch"),
    "todo_write": _UsualNames("TodoWrite"),
    "ask_user": _UsualNames("AskUserQuestion"),
    "propose_plan": _UsualNames("ExitPlanMode"),
    "skill": _UsualNames("Skill", {"name": "skill"}),
}


class UsualCall(Struct, frozen=True, kw_only=True):
    """A call as hooks expect it: names and arguments as in other agents, paths of files absolute. `subject`
    is its command, path, pattern or address."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """What a condition is compared with."""
        named = (self.arguments.get(name) for name in _SUBJECTS)
        return next((text for text in named if isinstance(text, str)), "")

    @property
    def path(self) -> str:
        """The file that it is about, "" for none."""
        path = self.arguments.get("file_path")
        return path if isinstance(path, str) else ""


def usual_name(tool: str) -> str:
    """The tool's usual name; its own if there is no other."""
    usual = _USUAL.get(tool)
    return usual.name if usual else tool


def usual_call(call: ToolCall, workspace: Path) -> UsualCall:
    """The call as hooks expect it."""
    usual = _USUAL.get(call.name, _UsualNames(call.name))
    given = {usual.arguments.get(name, name): value for name, value in call.arguments.items()}
    if isinstance(path := given.get("file_path"), str):
        given["file_path"] = str(workspace / path)
    return UsualCall(name=usual.name, arguments=given)


def own_arguments(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the tool's own names."""
    usual = _USUAL.get(tool, _UsualNames(tool))
    own = {theirs: ours for ours, theirs in usual.arguments.items()}
    return {own.get(name, name): value for name, value in given.items()}
