"""Diffs as the protocol wants them: the whole text of a file before and after.

Display data has only the changed lines. The rest is read from the file, if the file is one side of the diff;
otherwise each hunk becomes a diff of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from acp.helpers import tool_diff_content
from acp.schema import FileEditToolCallContent

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.system.safe_read import content_of
from keen_tui.text.lines import lines_with_ends, usual_ending

_LARGEST: Final = 400_000
"""The most bytes of a file that is shown whole."""


async def diffs_of(diff: DiffDisplay, workspace: Path, *, reads: bool) -> list[FileEditToolCallContent]:
    """The change as diffs, at least one. `reads`: the file may be read, since it still has one of the two
    contents."""
    path = str(workspace / diff.path)
    if _is_new(diff):
        return [tool_diff_content(path, _side(diff.hunks[0] if diff.hunks else (), "+"), None)]
    now = await asyncio.to_thread(_text_of, workspace / diff.path) if reads and not diff.left_out else None
    if now is not None:
        if (after := applied(now, diff, forward=True)) is not None:
            return [tool_diff_content(path, after, now)]
        if (before := applied(now, diff, forward=False)) is not None:
            return [tool_diff_content(path, now, before)]
    return list(_by_hunks(diff, path)) or [tool_diff_content(path, "", "")]


def _is_new(diff: DiffDisplay) -> bool:
    """Whether all lines of the file are added."""
    return not diff.removed and diff.added == diff.total_lines and not diff.left_out


def _by_hunks(diff: DiffDisplay, path: str) -> Iterator[FileEditToolCallContent]:
    for hunk in diff.hunks:
        yield tool_diff_content(path, _side(hunk, "+"), _side(hunk, "-"))


def _side(hunk: Sequence[DiffLine], sign: str) -> str:
    """The lines of one side of a hunk."""
    return "".join(f"{row.text}\n" for row in hunk if row.sign in (" ", sign))


def _text_of(path: Path) -> str | None:
    """The text of a file; None if it is missing, too large or not UTF-8."""
    try:
        content = content_of(path.resolve(), most=_LARGEST)
        return None if content is None else content.decode()
    except (OSError, ValueError, RuntimeError):
        return None


def applied(text: str, diff: DiffDisplay, *, forward: bool) -> str | None:
    """The text with the diff applied, or with `forward=False` undone; None if the diff doesn't match it."""
    source, target = ("-", "+") if forward else ("+", "-")
    lines, ending = lines_with_ends(text), usual_ending(text) or "\n"
    done: list[str] = []
    position = shift = 0
    for hunk in diff.hunks:
        start = _start(hunk, source, shift if forward else 0)
        wanted = [row.text for row in hunk if row.sign in (" ", source)]
        there = lines[start : start + len(wanted)]
        if start < position or [line.rstrip("\r\n") for line in there] != wanted:
            return None
        unchanged = iter(_unchanged(hunk, source, there))
        done += lines[position:start]
        done += [
            next(unchanged) if row.sign == " " else f"{row.text}{ending}"
            for row in hunk
            if row.sign in (" ", target)
        ]
        position = start + len(wanted)
        shift += sum((row.sign == "+") - (row.sign == "-") for row in hunk)
    if position == len(lines) and not text.endswith(("\n", "\r")) and text and done:
        done[-1] = done[-1].removesuffix(ending)
    return "".join((*done, *lines[position:]))


def _start(hunk: Sequence[DiffLine], source: str, shift: int) -> int:
    """The index of the hunk's first line in the source. Unchanged rows are numbered in the new text, which
    has `shift` more lines before the hunk than the source."""
    for index, row in enumerate(hunk):
        if row.sign == source:
            return row.number - 1
        if row.sign == " ":
            return row.number - 1 - (shift + index if source == "-" else 0)
    return 0


def _unchanged(hunk: Sequence[DiffLine], source: str, there: Sequence[str]) -> Iterator[str]:
    """The lines of the source that the hunk doesn't change, with their line endings."""
    rows = [row for row in hunk if row.sign in (" ", source)]
    return (line for row, line in zip(rows, there, strict=True) if row.sign == " ")
