"""Finds the repository of a folder by reading the disk, as git would. Git itself doesn't run."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.system.safe_read import content_of

_LONGEST: Final = 4_096
_LARGEST_CONFIG: Final = 1_000_000
_WORK_TREE: Final = re.compile(rb"^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)


class GitPlace(Struct, frozen=True):
    """Where the repository of a work tree is: `top` is the top folder of the work tree, `git` the part of the
    repository that belongs to this work tree (its index, its HEAD), `common` the part that all work trees
    share. Absolute, with links resolved."""

    top: Path
    git: Path
    common: Path


def git_place(folder: Path, home: Path) -> GitPlace | None:
    """The repository whose work tree the folder is in; None if there is none that Keen may show to commands.

    A repository around the folder has to belong to the user, and its work tree must not contain the home
    folder. One elsewhere has to name the work tree, too: a file `.git` alone can't lead to it. Blocks.
    """
    for top in (folder, *folder.parents):
        entry = top / ".git"
        try:
            status = entry.lstat()
        except OSError:
            continue
        if top != folder and (status.st_uid != os.geteuid() or top in (home, *home.parents)):
            return None
        if stat.S_ISREG(status.st_mode):
            return _named_in(entry)
        if not stat.S_ISDIR(status.st_mode) or os.path.lexists(entry / "commondir"):
            return None
        if _is_whole(entry, entry):  # git, too, looks further up if it isn't
            return GitPlace(top, entry, entry)
    return None


def _named_in(entry: Path) -> GitPlace | None:
    """The repository that a file `.git` names: that of a linked work tree, or of a submodule."""
    pointer = _line(entry)
    if not pointer.startswith("gitdir:"):
        return None
    top = entry.parent
    git = _joined(top, pointer.removeprefix("gitdir:").strip())
    shared = _line(git / "commondir")
    common = _joined(git, shared) if shared else git
    if shared:
        names_it = git.parent == common / "worktrees" and _joined(git, _line(git / "gitdir")) == entry
    else:
        named = _WORK_TREE.search(_content(git / "config", _LARGEST_CONFIG))
        names_it = named is not None and _joined(git, os.fsdecode(named[1].strip(b'"'))) == top
    return GitPlace(top, git, common) if names_it and _is_whole(git, common) else None


def _is_whole(git: Path, common: Path) -> bool:
    return os.path.lexists(git / "HEAD") and (common / "objects").is_dir() and (common / "refs").is_dir()


def _joined(folder: Path, path: str) -> Path:
    return Path(os.path.realpath(folder / path))


def _line(file: Path) -> str:
    return os.fsdecode(_content(file, _LONGEST)).strip()


def _content(file: Path, most: int) -> bytes:
    try:
        return content_of(file, most=most) or b""
    except OSError:
        return b""
