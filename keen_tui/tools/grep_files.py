"""grep_files: lines by what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pathspec import GitIgnoreSpec

from keen_tui.display import FileListDisplay
from keen_tui.errors import ToolFailure
from keen_tui.messages import ToolResult, ToolSpec
from keen_tui.plain import clean
from keen_tui.tools.arguments import checked
from keen_tui.tools.base import Access, OutputSink, PreparedCall
from keen_tui.tools.search import Found, Searcher, file_pattern
from keen_tui.tools.workspace import Place, Workspace

MOST_LINES = 200


class GrepFiles:
    """Searches file contents, .gitignore honoured, binary files skipped."""

    spec = ToolSpec(
        name="grep_files",
        description=(
            "Search file contents for a regular expression, line by line. Results are `path:line:text`. "
            f"What .gitignore leaves out is left out, and binary files. At most {MOST_LINES} lines."
        ),
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression."},
                "path": {"type": "string", "description": "File or folder; the workspace unless given."},
                "glob": {"type": "string", "description": "Only files that match, such as *.py."},
            },
            "required": ["pattern"],
        },
    )

    def __init__(self, workspace: Workspace, searcher: Searcher) -> None:
        self._workspace = workspace
        self._searcher = searcher

    def target(self, arguments: Mapping[str, Any]) -> str:
        return " in ".join(str(arguments[name]) for name in ("pattern", "glob", "path") if name in arguments)

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given.get("path", "."))
        pattern, glob = given["pattern"], given.get("glob")
        if not pattern or "\0" in pattern or "\0" in (glob or ""):
            raise ToolFailure("grep_files: the pattern is empty, or holds a NUL character.")
        wanted = file_pattern(self.spec, glob) if glob else None
        if not place.path.exists():
            raise ToolFailure(f"{place.name} does not exist.")

        async def run(_: OutputSink) -> ToolResult:
            return _result(place, await self._searcher.lines(place, pattern), wanted)

        return PreparedCall(
            access=Access(kind="read", subject=place.name, inside=place.inside), display=None, run=run
        )


def _result(place: Place, found: Found, wanted: GitIgnoreSpec | None) -> ToolResult:
    folder = place.name if place.path.is_dir() else place.name.rpartition("/")[0]
    prefix = f"{folder}/" if folder not in ("", ".") else ""
    lines: list[str] = []
    files: set[str] = set()
    for row in found.output.splitlines():
        path, _, rest = row.removeprefix("./").partition("\0")
        if wanted and not wanted.match_file(path):
            continue  # not left to ripgrep: there a glob would overrule .gitignore
        files.add(path)
        lines.append(clean(f"{prefix}{path}:{rest}"))
    shown = tuple(lines[:MOST_LINES])
    more = len(lines) - len(shown)
    notes = [f"[{more} more lines match; narrow the pattern, path or glob]"] if more else []
    if not found.complete:
        notes.append("[the search was ended by its limits: there may be more]")
    count = f"{len(lines)} {'match' if len(lines) == 1 else 'matches'}"
    return ToolResult(
        text="\n".join((*shown, *notes)) or "no line matches",
        summary=f"{count} in {len(files)} files" if len(files) > 1 else count,
        display=FileListDisplay(lines=shown, more=more),
    )
