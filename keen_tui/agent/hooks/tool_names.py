"""Calls under the names that hooks written for other agents expect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.messages import ToolCall
from keen_tui.domain.own_tools import own_tool

_SUBJECTS: Final = ("command", "file_path", "url", "pattern", "path")


class UsualCall(Struct, frozen=True, kw_only=True):
    """A call as hooks expect it: names and arguments as in other agents, paths of files absolute. `subject`
    is its command, path, pattern or address."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """The argument that a condition is compared with, "" for none."""
        named = (self.arguments.get(name) for name in _SUBJECTS)
        return next((text for text in named if isinstance(text, str)), "")

    @property
    def path(self) -> str:
        """The file that it is about, "" for none."""
        path = self.arguments.get("file_path")
        return path if isinstance(path, str) else ""


def usual_call(call: ToolCall, workspace: Path) -> UsualCall:
    """The call as hooks expect it."""
    usual = own_tool(call.name)
    given = {usual.arguments.get(name, name): value for name, value in call.arguments.items()}
    if isinstance(path := given.get("file_path"), str):
        given["file_path"] = str(workspace / path)
    return UsualCall(name=usual.usual_name, arguments=given)


def own_arguments(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the tool's own names."""
    own = {theirs: ours for ours, theirs in own_tool(tool).arguments.items()}
    return {own.get(name, name): value for name, value in given.items()}
