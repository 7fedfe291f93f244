"""A prepared change of one file, for write_file and edit_file."""

from __future__ import annotations

import asyncio

from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult
from keen_tui.system.executables import own_code
from keen_tui.text.diff import diff_display
from keen_tui.tools.access.access import Access
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.contents import change_content
from keen_tui.tools.files.known_files import digest
from keen_tui.tools.files.workspace import ResolvedPath, Workspace
from keen_tui.tools.process.bounded_output import OutputSink


async def prepared_change(
    workspace: Workspace, place: ResolvedPath, before: bytes | None, after: bytes
) -> PreparedCall:
    """The change of `place` from `before` (None: no file yet) to `after`, with its diff.

    Raises:
        ToolFailure: a sub-agent leaves the place as it is.
    """
    workspace.require_own(place)
    diff, fingerprint = await asyncio.to_thread(
        lambda: (diff_display(place.subject, _text(before), _text(after)), digest(after))
    )

    async def run(_: OutputSink) -> ToolResult:
        async with workspace.known.changing(place.path):
            if before == after:
                return ToolResult(text=f"{place.name} already has that content.", summary="unchanged")
            await change_content(workspace, place, before, after)
            workspace.known.note_digest(place.path, fingerprint)
        return _result(place, diff, created=before is None)

    return PreparedCall(
        access=Access(
            kind="write",
            subject=place.subject,
            path=str(place.path),
            inside=workspace.frees(place),
            concern=workspace.concern,
            creates=before is None,
            is_own_code=any(place.path.is_relative_to(folder) for folder in own_code()),
        ),
        display=diff,
        run=run,
    )


def require_known(workspace: Workspace, place: ResolvedPath, content: bytes | None) -> None:
    """Refuse to change a file that has changed since the model saw it. A file that the model never saw
    passes.

    Raises:
        ToolFailure: somebody else has changed or removed the file.
    """
    if workspace.known.is_stale(place.path, content):
        by = workspace.known.author(place.path, content) or "the user, a formatter or a command"
        raise ToolFailure(
            f"{place.name} was {'removed' if content is None else 'changed on disk'} since it was read "
            f"(by {by}). Read it again, then make the change."
        )


def _result(place: ResolvedPath, diff: DiffDisplay, *, created: bool) -> ToolResult:
    return ToolResult(
        text=(
            f"{place.name} {'created' if created else 'changed'} "
            f"(lines added: {diff.added}, removed: {diff.removed})."
        ),
        summary=f"+{diff.added} −{diff.removed}",
        display=diff,
        facts=(FileChanged(path=place.name),),
    )


def _text(content: bytes | None) -> str:
    return (content or b"").removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
