"""The content of files as the person sees it: an editor may hold changes that aren't on the disk."""

from __future__ import annotations

import asyncio
import os
from typing import Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.text.lines import LINE_END, usual_ending
from keen_tui.tools.files.backup import Backup
from keen_tui.tools.files.known_files import digest
from keen_tui.tools.files.reading import BOM, read_if_there, reason
from keen_tui.tools.files.replacing import keep_before_change, replace_file
from keen_tui.tools.files.workspace import ResolvedPath, Workspace

WRITE_SECONDS: Final = 4.0
"""Seconds that a write by the editor has to end after the turn was stopped; a stopped call has five."""


async def current_content(workspace: Workspace, place: ResolvedPath) -> bytes | None:
    """The content of a regular file, as the editor has it where there is one; None if there is no file.

    Raises:
        ToolFailure: as `read_if_there`.
    """
    saved = await asyncio.to_thread(read_if_there, place)
    if workspace.editor is None or not _is_text(saved):
        return saved
    text = await workspace.editor.read(place.path)
    return saved if text is None else _as_file(text, saved)


async def change_content(
    workspace: Workspace, place: ResolvedPath, before: bytes | None, after: bytes
) -> None:
    """Replace the content `before` by `after`, by the editor if it takes changes, once the backup has both.
    Once begun, it finishes even if the task is cancelled; only an editor that doesn't answer is given up.

    Raises:
        ToolFailure: the file has changed since it was read, or it can't be written.
    """
    editor = workspace.editor
    if editor is None or not editor.writes or not (_is_text(before) and _is_text(after)):
        await replace_file(place, before, after, workspace.backup)
        return
    if digest(await current_content(workspace, place)) != digest(before):
        raise ToolFailure(f"{place.name} has changed since it was read. Read it again, then make the change.")
    await asyncio.to_thread(_prepare, place, before, after, workspace.backup)
    await _to_the_end(asyncio.ensure_future(editor.write(place.path, after.decode())))


def _is_text(content: bytes | None) -> bool:
    """Whether an editor gives the content as it is: text in UTF-8, without a byte order mark."""
    if content is None:
        return True
    try:
        return not content.startswith(BOM) and "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def _as_file(text: str, saved: bytes | None) -> bytes | None:
    """The text of the editor as the file would have it. Editors may give all line endings as LF."""
    content = (saved or b"").decode()
    if _with_lf(text) == _with_lf(content):
        return saved  # nothing is unsaved; an empty text says nothing of a file that isn't there
    ending = usual_ending(content)
    if ending not in ("", "\n") and "\r" not in text:
        text = text.replace("\n", ending)
    return text.encode("utf-8", "replace")


def _with_lf(text: str) -> str:
    return LINE_END.sub("\n", text)


def _prepare(place: ResolvedPath, before: bytes | None, after: bytes, backup: Backup | None) -> None:
    """Refuse what can't be written, save what would be lost, and make the folder of the file."""
    try:
        if place.path.exists() and not os.access(place.path, os.W_OK):
            raise ToolFailure(f"{place.name} is read-only. It was not changed.")
        if backup is not None:
            keep_before_change(place, before, after, backup)
        place.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be written: {reason(error)}. It was not changed.") from error


async def _to_the_end(writing: asyncio.Future[None]) -> None:
    """Wait for the write; after a cancel, for a few seconds."""
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait({writing}, timeout=WRITE_SECONDS)
        if not writing.done():
            writing.cancel()
            raise
        writing.result()
