"""Finds files that needn't be set aside since a commit has them, and takes others out of the index."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.system.safe_read import content_of
from keen_tui.system.trees import walk

_MOST_FILES: Final = 500
_LARGEST: Final = 1_000_000

RunGit = Callable[..., bytes]
"""Runs git in a repository: takes its words and its input, and returns its output. Raises WorkTreeFailed."""


def committed(
    ran: RunGit, top: Path, tips: Sequence[str], hash_size: int, paths: Sequence[Path]
) -> list[Path]:
    """Which of these entries of the work tree `top` have exactly the content that one of the commits `tips`
    has there. A folder counts if all its files do, and they aren't too many to check."""
    files = {path: list(_files_in(path)) for path in paths if top in path.parents}
    every = [file for inside in files.values() for file in inside if "\n" not in str(file)]
    asked = [(file, f"{tip}:{file.relative_to(top).as_posix()}") for file in every for tip in tips]
    given = "".join(f"{what}\n" for _, what in asked).encode("utf-8", "surrogateescape")
    try:
        rows = ran("cat-file", "--batch-check=%(objectname)", given=given).split(b"\n")
        held = {(file, row.decode()) for (file, _), row in zip(asked, rows, strict=False)}
        return [
            path
            for path, inside in files.items()
            if inside and all((file, _name_of(file, hash_size)) in held for file in inside)
        ]
    except (OSError, ValueError, WorkTreeFailed):
        return []


def unstaged(ran: RunGit, top: Path, paths: Sequence[Path]) -> list[str]:
    """Take these files of the work tree `top` out of the index; returns the names of those that the last
    commit has."""
    names = [path.relative_to(top).as_posix() for path in paths if top in path.parents]
    given = "".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape")
    try:
        ran("update-index", "-z", "--force-remove", "--stdin", given=given)
        rows = ran("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", *names).split(b"\0")
    except WorkTreeFailed:  # without a commit, for example
        return []
    return list(map(os.fsdecode, filter(None, rows)))


def _name_of(file: Path, hash_size: int) -> str:
    """The name of a file's content in git. Raises OSError."""
    content = os.fsencode(file.readlink()) if file.is_symlink() else content_of(file, most=_LARGEST) or b""
    digest = hashlib.sha1(usedforsecurity=False) if hash_size == 20 else hashlib.sha256()
    digest.update(b"blob %d\0%b" % (len(content), content))
    return digest.hexdigest()


def _files_in(entry: Path) -> Iterator[Path]:
    """The entry itself, or the files below it; none of them if there are too many."""
    if entry.is_symlink() or not entry.is_dir():
        yield entry
        return
    found = (Path(folder, name) for folder, _, names in walk(entry) for name in names)
    files = list(islice(found, _MOST_FILES + 1))
    yield from files if len(files) <= _MOST_FILES else ()
