"""glob_files: files by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keen_tui.display import FileListDisplay
from keen_tui.messages import ToolResult, ToolSpec
from keen_tui.plain import clean
from keen_tui.tools.arguments import checked
from keen_tui.tools.base import Access, OutputSink, PreparedCall
from keen_tui.tools.search import Searcher, file_pattern
from keen_tui.tools.workspace import Place, Workspace

MOST_FILES = 300


class GlobFiles:
    """Lists files that match a pattern, .gitignore honoured."""

    spec = ToolSpec(
        name="glob_files",
        description=(
            "Find files by name. `*.py` matches in every folder, `src/**/*.py` below src, `**` everything. "
            f"What .gitignore leaves out is left out. At most {MOST_FILES} paths, sorted."
        ),
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A glob pattern."},
                "path": {"type": "string", "description": "Folder to look in; the workspace unless given."},
            },
            "required": ["pattern"],
        },
    )

    def __init__(self, workspace: Workspace, searcher: Searcher) -> None:
        self._workspace = workspace
        self._searcher = searcher

    def target(self, arguments: Mapping[str, Any]) -> str:
        return " in ".join(str(arguments[name]) for name in ("pattern", "path") if name in arguments)

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given.get("path", "."))
        wanted = file_pattern(self.spec, given["pattern"])

        async def run(_: OutputSink) -> ToolResult:
            paths, complete = await self._searcher.files(place)
            return _result(place, [path for path in paths if wanted.match_file(path)], complete)

        return PreparedCall(
            access=Access(kind="read", subject=place.name, inside=place.inside), display=None, run=run
        )


def _result(place: Place, paths: list[str], complete: bool) -> ToolResult:
    prefix = "" if place.name == "." else f"{place.name}/"
    shown = tuple(clean(prefix + path) for path in paths[:MOST_FILES])
    more = len(paths) - len(shown)
    notes = [f"[{more} more; use a narrower pattern]"] if more else []
    if not complete:
        notes.append("[the search was ended by its limits: there may be more]")
    return ToolResult(
        text="\n".join((*shown, *notes)) or "no file matches",
        summary="1 file" if len(paths) == 1 else f"{len(paths)} files",
        display=FileListDisplay(lines=shown, more=more),
    )
