"""Shows files that were set aside, as the diff of an edit that would create them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.system.safe_read import content_of
from keen_tui.system.trees import walk
from keen_tui.text.diff import MOST_ROWS, diff_display
from keen_tui.text.units import counted
from keen_tui.tools.quarantine.store import Kept

_LARGEST_SHOWN: Final = 1_000_000
"""Bytes of the largest file whose text is shown."""
_MOST_FILES: Final = 200


class _File(Struct, frozen=True, kw_only=True):
    """A file: its name from the workspace, and its lines, or lines about it."""

    name: str
    lines: tuple[str, ...]
    is_text: bool = True


def shown(kept: Sequence[Kept], beside: Sequence[Path] = ()) -> DiffDisplay:
    """All files as one diff; if there are several, each begins with a row with its name. `beside` are files
    that aren't set aside but are needed to judge the others."""
    files = list(islice(_all_files(kept, beside), _MOST_FILES + 1))
    if len(files) == 1 and files[0].is_text:
        [file] = files
        return diff_display(file.name, "", "\n".join((*file.lines, "")))
    return _joined(files)


def _joined(files: Sequence[_File]) -> DiffDisplay:
    hunks: list[tuple[DiffLine, ...]] = []
    room = MOST_ROWS
    for file in files[:_MOST_FILES]:
        sign: Literal["+", " "] = "+" if file.is_text else " "
        rows = [DiffLine(sign=" ", number=0, text=f"{file.name}:")]
        rows += (DiffLine(sign=sign, number=number, text=line) for number, line in enumerate(file.lines, 1))
        hunks.append(tuple(rows[:room]))
        room -= len(hunks[-1])
        if not room:
            break
    total = sum(len(file.lines) for file in files if file.is_text)
    rows_in_all = sum(len(file.lines) + 1 for file in files)
    return DiffDisplay(
        path=counted(len(files), "file"),
        hunks=tuple(hunks),
        added=total,
        removed=0,
        total_lines=total,
        left_out=rows_in_all - (MOST_ROWS - room),
    )


def _all_files(kept: Sequence[Kept], beside: Sequence[Path]) -> Iterator[_File]:
    for each in kept:
        for entry in each.entries:
            yield from _files(entry.name, Path(entry.content))
        for path in beside:
            if path.is_relative_to(each.workspace) and os.path.lexists(path):
                yield _file(path.relative_to(each.workspace).as_posix(), path)


def _files(name: str, path: Path) -> Iterator[_File]:
    """The file at the path, or all files in the folder."""
    if path.is_symlink() or not path.is_dir():
        yield _file(name, path)
        return
    for folder, folders, names in walk(path):
        folders.sort()
        for each in sorted(names):
            inside = Path(folder, each)
            yield _file(f"{name}/{inside.relative_to(path).as_posix()}", inside)


def _file(name: str, path: Path) -> _File:
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return _about(name, f"a link to {path.readlink()}")
        if not stat.S_ISREG(status.st_mode):
            return _about(name, "neither a file nor a folder")
        if status.st_size > _LARGEST_SHOWN:
            return _about(name, f"{status.st_size:,} bytes, too long to show")
        content = content_of(path, most=_LARGEST_SHOWN) or b""
    except OSError as error:
        return _about(name, f"it can't be read: {error.strerror}")
    if b"\0" in content:
        return _about(name, f"{len(content):,} bytes that aren't text")
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return _File(name=name, lines=tuple(text.removesuffix("\n").split("\n")) if text else ())


def _about(name: str, what: str) -> _File:
    return _File(name=name, lines=(f"({what})",), is_text=False)
