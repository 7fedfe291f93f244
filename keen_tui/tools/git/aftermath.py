"""Checks what a git command left in `.git`: unknown names, and entries that run code."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from keen_tui.tools.sandbox.policy import RUNS_CODE_IN_GIT

_KNOWN: Final = re.compile(
    r"HEAD|index|config|description|hooks|info|objects|refs|logs|packed-refs|branches|shallow|reftable|"
    r"[A-Z]+(_[A-Z]+)*_(MSG|EDITMSG|HEAD|MODE|RR)|COMMIT_EDITMSG|ORIG_HEAD|MERGE_HEAD|AUTO_MERGE|SQUASH_MSG|"
    r"BISECT_\w+|sequencer|rebase-merge|rebase-apply|rr-cache|lfs|modules|worktrees|sharedindex\.[0-9a-f]+|"
    r"gc\.pid|gc\.log|config\.worktree|index\.lock|MERGE_AUTOSTASH"
)
_MOST: Final = 2_000
"""Entries of a folder that are compared."""

RepositorySnapshot = Mapping[str, tuple[int, ...]]


def look(*repositories: Path) -> tuple[RepositorySnapshot, ...]:
    """The names in each part of a repository, and for entries that run code also when each one changed."""
    return tuple(dict(_entries(repository)) for repository in repositories)


def changes(before: tuple[RepositorySnapshot, ...], after: tuple[RepositorySnapshot, ...]) -> tuple[str, ...]:
    """New unknown entries, and entries that run code and have changed, in all parts of a repository."""
    return tuple(name for one, other in zip(before, after, strict=True) for name in _changes(one, other))


def _changes(before: RepositorySnapshot, after: RepositorySnapshot) -> tuple[str, ...]:
    of_code = {name for name in {*before, *after} if name.partition("/")[0] in RUNS_CODE_IN_GIT}
    changed = {name for name in of_code if before.get(name) != after.get(name)}
    new = {name for name in after if name not in before and "/" not in name and not _KNOWN.fullmatch(name)}
    return tuple(sorted(changed | new))


def _entries(repository: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    for entry in repository.iterdir():
        yield entry.name, _state(entry) if entry.name in RUNS_CODE_IN_GIT else ()
    for name in ("hooks", "info"):
        folder = repository / name
        if folder.is_dir():
            for number, entry in enumerate(folder.iterdir()):
                if number < _MOST:
                    yield f"{name}/{entry.name}", _state(entry)


def _state(path: Path) -> tuple[int, ...]:
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode):
        return (stat.S_IFDIR,)
    return (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ino)
