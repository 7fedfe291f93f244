"""glob_files: files by name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from keen_tui.domain.display import FileListDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.sanitize import clean
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.reading import kind_of
from keen_tui.tools.files.workspace import ResolvedPath, Workspace
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.rules.globs import Glob
from keen_tui.tools.search.search import ENDED_EARLY, Searcher

MOST_FILES = 300


class GlobFiles:
    """Lists files that match a pattern, honouring .gitignore."""

    spec = ToolSpec(
        name="glob_files",
        description=(
            "Find files by name. `*.py` matches in every folder, `src/**/*.py` below src, `*.{ts,tsx}` both "
            f"kinds, `**` everything. At most {MOST_FILES} paths, sorted. Files that .gitignore excludes "
            "are left out, unless path is an ignored folder itself."
        ),
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A glob pattern."},
                "path": {"type": "string", "description": "The folder to search; default: the workspace."},
            },
            "required": ["pattern"],
        },
    )
    only_reads = True

    def __init__(self, workspace: Workspace, searcher: Searcher) -> None:
        self._workspace = workspace
        self._searcher = searcher

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "pattern", "path")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given.get("path") or ".")
        pattern = given["pattern"]
        Glob(pattern)
        kind = await asyncio.to_thread(kind_of, place)
        if kind != "folder":
            raise ToolFailure(f"{place.name} is a {kind}." if kind else f"{place.name} does not exist.")

        async def run(_: OutputSink) -> ToolResult:
            return _result(place, *await self._searcher.files(place, pattern))

        return PreparedCall(access=self._workspace.reading(place), display=None, run=run)


def _result(place: ResolvedPath, paths: Sequence[str], complete: bool) -> ToolResult:
    prefix = "" if place.name == "." else f"{place.name}/"
    shown = tuple(clean(prefix + path) for path in paths[:MOST_FILES])
    more = len(paths) - len(shown)
    notes = [f"[{more} more; use a narrower pattern]"] if more else []
    if not complete:
        notes.append(ENDED_EARLY)
    return ToolResult(
        text="\n".join((*(shown or ("no file matches",)), *notes)),
        summary="1 file" if len(paths) == 1 else f"{len(paths)} files",
        display=FileListDisplay(lines=shown, more=more),
    )
