"""read_file: a part of a text file, with line numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from keen_tui.display import FileDisplay
from keen_tui.errors import ToolFailure
from keen_tui.messages import ToolResult, ToolSpec
from keen_tui.tools.arguments import checked
from keen_tui.tools.base import Access, OutputSink, PreparedCall
from keen_tui.tools.files import read_bytes
from keen_tui.tools.workspace import Place, Workspace

MOST_LINES = 2_000
LONGEST_LINE = 2_000
MOST_CHARACTERS = 64_000


class ReadFile:
    """Reads text; what is no UTF-8 is shown with replacement marks, what is binary is refused."""

    spec = ToolSpec(
        name="read_file",
        description=(
            "Read a text file. Lines come with their number and a tab before them. Reads up to "
            f"{MOST_LINES} lines from `offset` (the first line is 1); the result says how to go on. "
            "Read a file before you change it."
        ),
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace."},
                "offset": {"type": "integer", "description": "Number of the first line, from 1."},
                "limit": {"type": "integer", "description": f"Number of lines, at most {MOST_LINES}."},
            },
            "required": ["path"],
        },
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def target(self, arguments: Mapping[str, Any]) -> str:
        return str(arguments.get("path", ""))

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        offset, limit = given.get("offset", 1), given.get("limit", MOST_LINES)
        if offset < 1 or limit < 1:
            raise ToolFailure("read_file: offset and limit count from 1.")
        place = self._workspace.place(given["path"])

        async def run(_: OutputSink) -> ToolResult:
            return await asyncio.to_thread(_read, place, offset, min(limit, MOST_LINES))

        return PreparedCall(
            access=Access(kind="read", subject=place.name, inside=place.inside), display=None, run=run
        )


def _read(place: Place, offset: int, limit: int) -> ToolResult:
    content = read_bytes(place)
    if b"\0" in content[:8_192]:
        raise ToolFailure(f"{place.name} is a binary file of {len(content):,} bytes.")
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []
    if not lines:
        return ToolResult(text=f"{place.name} is empty.", summary="empty")
    if offset > len(lines):
        raise ToolFailure(f"{place.name} has {len(lines)} lines; there is no line {offset}.")
    shown = _fitting([_cut(line) for line in lines[offset - 1 : offset - 1 + limit]])
    last = offset + len(shown) - 1
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(shown, offset))
    more = f"\n[lines {offset} to {last} of {len(lines)}; go on with offset {last + 1}]"
    return ToolResult(
        text=numbered + (more if last < len(lines) else ""),
        summary=f"{len(shown)} lines" if len(shown) != 1 else "1 line",
        display=FileDisplay(path=place.name, text="\n".join(shown), first_line=offset),
    )


def _cut(line: str) -> str:
    left_out = len(line) - LONGEST_LINE
    return line if left_out <= 0 else f"{line[:LONGEST_LINE]}[{left_out} characters left out]"


def _fitting(lines: list[str]) -> list[str]:
    """As many of the lines as fit into MOST_CHARACTERS, at least one."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if count and size > MOST_CHARACTERS:
            return lines[:count]
    return lines
