"""read_file: a part of a text file, with line numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from keen_tui.domain.display import FileDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.lines import cut, line_count, lines_of, pieces
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.contents import current_content
from keen_tui.tools.files.reading import BOM
from keen_tui.tools.files.workspace import ResolvedPath, Workspace
from keen_tui.tools.process.bounded_output import OutputSink

MOST_LINES = 2_000
LONGEST_LINE = 2_000
MOST_CHARACTERS = 64_000


class ReadFile:
    """Reads text. Bytes that aren't UTF-8 are shown as replacement characters; binary files are refused."""

    spec = ToolSpec(
        name="read_file",
        description=(
            "Read a text file. Each line begins with its number and a tab. Reads up to "
            f"{MOST_LINES} lines from `offset` (the first line is 1); if there is more, the result says how "
            "to continue. Read a file before you change it. Binary files and folders are refused."
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
    only_reads = True

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "path")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        offset, limit = given.get("offset", 1), given.get("limit", MOST_LINES)
        if offset < 1 or limit < 1:
            raise ToolFailure("read_file: offset and limit count from 1.")
        place = self._workspace.place(given["path"])

        def part(content: bytes | None) -> ToolResult:
            self._workspace.known.note(place.path, content)
            if content is None:
                raise ToolFailure(f"{place.name} does not exist. Look for it with glob_files.")
            return _part(place, content, offset, min(limit, MOST_LINES))

        async def run(_: OutputSink) -> ToolResult:
            return await asyncio.to_thread(part, await current_content(self._workspace, place))

        return PreparedCall(
            access=self._workspace.reading(place),
            display=None,
            run=run,
        )


def _part(place: ResolvedPath, content: bytes, offset: int, limit: int) -> ToolResult:
    if b"\0" in content[:8_192]:
        raise ToolFailure(f"{place.name} is a binary file of {len(content):,} bytes.")
    wanted, count, is_utf8 = _lines(content.removeprefix(BOM), offset, limit)
    if not count:
        return ToolResult(text=f"{place.name} is empty.", summary="empty")
    if offset > count:
        raise ToolFailure(f"{place.name} has {count} lines; there is no line {offset}.")
    shown = _fitting(wanted)
    last = offset + len(shown) - 1
    rows = [f"{number}\t{line}" for number, line in enumerate(shown, offset)]
    if last < count:
        rows.append(f"[lines {offset} to {last} of {count}; continue with offset {last + 1}]")
    if not is_utf8:
        rows.append("[bytes that aren't UTF-8 are shown as \ufffd, and edit_file can't change the file]")
    return ToolResult(
        text="\n".join(rows),
        summary=f"{len(shown)} lines" if len(shown) != 1 else "1 line",
        display=FileDisplay(path=place.subject, text="\n".join(shown), first_line=offset),
    )


def _lines(content: bytes, offset: int, limit: int) -> tuple[list[str], int, bool]:
    """The wanted lines, cut if they are long; the number of all lines; whether the file is UTF-8."""
    wanted: list[str] = []
    count, is_utf8 = 0, True
    for piece in pieces(content):
        text, is_piece_utf8 = _decoded(piece)
        is_utf8 = is_utf8 and is_piece_utf8
        first = max(offset - 1 - count, 0)
        count += line_count(piece)
        if len(wanted) < limit and count >= offset:
            lines = lines_of(text)[first : first + limit - len(wanted)]
            wanted += (cut(line, LONGEST_LINE) for line in lines)
    return wanted, count, is_utf8


def _decoded(content: bytes) -> tuple[str, bool]:
    """The text, and whether it is UTF-8."""
    try:
        return content.decode("utf-8"), True
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace"), False


def _fitting(lines: list[str]) -> list[str]:
    """As many of the lines as fit into MOST_CHARACTERS, at least one."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if count and size > MOST_CHARACTERS:
            return lines[:count]
    return lines
