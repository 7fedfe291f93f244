"""Folders opened step by step and never through a link.

The paths given here are resolved already. A link that is put in their way after they were judged is
refused, instead of leading out of the workspace.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NO_SLUG = re.compile(r"[^A-Za-z0-9._-]+")
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder, for the `dir_fd` of os functions; with `make` what is missing is made.

    Raises:
        OSError: it can't be opened; NotADirectoryError when a part of it is a file or a link.
    """
    folder = os.open("/", _STEP)
    try:
        for part in path.parts[1:]:
            inner = _step(part, folder, make=make)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _step(part: str, folder: int, *, make: bool) -> int:
    try:
        return os.open(part, _STEP, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        try:
            os.mkdir(part, dir_fd=folder)
        except FileExistsError:
            pass  # somebody else made it just now
        return os.open(part, _STEP, dir_fd=folder)


def names_in(folder: int) -> list[str]:
    """The names of the entries of a folder that `opened_folder` has opened. Raises OSError."""
    listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return sorted(os.listdir(listed))  # noqa: PTH208 - of a descriptor
    finally:
        os.close(listed)


def change_mode(folder: int, mode: int) -> None:
    """Change the mode of a folder that `opened_folder` has opened. Raises OSError."""
    if hasattr(os, "O_PATH"):
        os.chmod(f"/proc/self/fd/{folder}", mode)  # noqa: PTH101 - such a descriptor gives no other right
    else:
        os.fchmod(folder, mode)


def make_private(path: Path) -> None:
    """Make a folder, and what is missing above it, for this user alone. Raises OSError."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def workspace_folder(root: Path, workspace: Path) -> Path:
    """The folder in `root` for what belongs to a workspace: its name, for people, and a hash of its path, to
    be unique."""
    real = os.path.realpath(workspace)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    slug = _NO_SLUG.sub("-", Path(real).name).strip("-.")[:40] or "root"
    return root / f"{slug}-{digest}"
