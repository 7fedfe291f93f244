"""grep_files: lines by their content."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from keen_tui.domain.display import FileListDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.sanitize import clean
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.reading import kind_of
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.rules.globs import Glob
from keen_tui.tools.search.search import ENDED_EARLY, LONGEST_LINE, Matches, Searcher

MOST_LINES = 200
MOST_WITHHELD = 5


class GrepFiles:
    """Searches file contents, honouring .gitignore and skipping binary files."""

    spec = ToolSpec(
        name="grep_files",
        description=(
            "Search file contents for a regular expression, line by line (no look-around, no match across "
            f"lines). Results are `path:line:text`, at most {MOST_LINES} lines. Binary files and files "
            "that .gitignore excludes are skipped, unless path is an ignored file or folder itself."
        ),
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression."},
                "path": {
                    "type": "string",
                    "description": "The file or folder to search; default: the workspace.",
                },
                "glob": {
                    "type": "string",
                    "description": "Only files that match, such as *.py or *.{ts,tsx}.",
                },
            },
            "required": ["pattern"],
        },
    )
    only_reads = True

    def __init__(self, workspace: Workspace, searcher: Searcher) -> None:
        self._workspace = workspace
        self._searcher = searcher

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "pattern", "glob", "path")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given.get("path") or ".")
        pattern, glob = given["pattern"], given.get("glob") or None
        if not pattern or "\0" in pattern:
            raise ToolFailure("grep_files: the pattern is empty, or contains a NUL character.")
        if glob:
            Glob(glob)
        kind = await asyncio.to_thread(kind_of, place)
        if kind not in ("file", "folder"):
            raise ToolFailure(f"{place.name} is a {kind}." if kind else f"{place.name} does not exist.")
        folder = place.name if kind == "folder" else place.name.rpartition("/")[0]

        async def run(_: OutputSink) -> ToolResult:
            return _result(folder, await self._searcher.lines(place, pattern, glob, MOST_LINES))

        return PreparedCall(
            access=self._workspace.reading(place),
            display=None,
            run=run,
        )


def _result(folder: str, matches: Matches) -> ToolResult:
    prefix = f"{folder}/" if folder not in ("", ".") else ""
    shown = tuple(clean(f"{prefix}{match.path}:{match.number}:{_cut(match.line)}") for match in matches.first)
    more = matches.lines - len(shown)
    notes = [f"[{more} more lines match; narrow the pattern, path or glob]"] if more else []
    if matches.withheld:
        names = clean(", ".join(matches.withheld[:MOST_WITHHELD]))
        notes.append(f"[not searched: {names}; it may hold keys, or a rule covers it. read_file asks]")
    if not matches.complete:
        notes.append(ENDED_EARLY)
    count = f"{matches.lines} {'match' if matches.lines == 1 else 'matches'}"
    return ToolResult(
        text="\n".join((*(shown or ("no line matches",)), *notes)),
        summary=f"{count} in {matches.files} files" if matches.files > 1 else count,
        display=FileListDisplay(lines=shown, more=more),
    )


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
