"""A change of one file that is ready to be asked about and made: what write_file and edit_file share."""

from __future__ import annotations

from keen_tui.display import DiffDisplay
from keen_tui.messages import FileChanged, ToolResult
from keen_tui.tools.base import Access, OutputSink, PreparedCall
from keen_tui.tools.diff import diff_display
from keen_tui.tools.files import replace_file
from keen_tui.tools.workspace import Place


def prepared_change(place: Place, before: bytes | None, after: bytes) -> PreparedCall:
    """The change of `place` from `before` (None: no file yet) to `after`, with its diff."""
    diff = diff_display(
        place.name, (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    )

    async def run(_: OutputSink) -> ToolResult:
        if before == after:
            return ToolResult(text=f"{place.name} holds that already.", summary="unchanged")
        await replace_file(place, before, after)
        done = "created" if before is None else "changed"
        return ToolResult(
            text=f"{place.name} {done} ({diff.added} lines added, {diff.removed} removed).",
            summary=_counts(diff),
            display=diff,
            facts=(FileChanged(path=place.name),),
        )

    return PreparedCall(
        access=Access(kind="write", subject=place.name, inside=place.inside, creates=before is None),
        display=diff,
        run=run,
    )


def _counts(diff: DiffDisplay) -> str:
    return f"+{diff.added} −{diff.removed}"
