"""Where instructions are looked for: the user's settings folder, then from the project's root down to the
folder that is worked in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from keen_tui.agent.instructions.instruction_file import FoundFile

FILE: Final = "AGENTS.md"
OVERRIDE: Final = "AGENTS.override.md"
"""Read in the place of the AGENTS.md beside it."""


def own_file(settings_folder: Path) -> FoundFile | None:
    """The user's own instructions, for every project."""
    name = _chosen(settings_folder, ())
    return FoundFile(path=settings_folder / name, name=f"your own {name}", bounds=None) if name else None


def project_files(workspace: Path, home: Path, fallbacks: Sequence[str]) -> Iterator[FoundFile]:
    """One file a folder, from the root of the repository down to the workspace, the nearest last.

    Args:
        home: the user's home folder; nothing above it is looked at.
        fallbacks: names that are looked for where a folder has no AGENTS.md, the first one first.
    """
    workspace = Path(os.path.realpath(workspace))
    folders = _folders(workspace, Path(os.path.realpath(home)))
    for folder in reversed(folders):
        if name := _chosen(folder, fallbacks):
            path = folder / name
            shown = Path(os.path.relpath(path, workspace)).as_posix()
            yield FoundFile(path=path, name=shown, bounds=folders[-1])


def nested_files(path: Path, workspace: Path, home: Path, fallbacks: Sequence[str]) -> Iterator[FoundFile]:
    """One file a folder, from below the workspace down to the folder of `path`, the nearest last; without
    `path` itself. Nothing for a path outside the workspace.

    Args:
        path: of a file, with symlinks resolved.
    """
    workspace = Path(os.path.realpath(workspace))
    if not path.is_relative_to(workspace):
        return
    below = path.parent.relative_to(workspace).parts
    bounds = _folders(workspace, Path(os.path.realpath(home)))[-1]
    for depth in range(1, len(below) + 1):
        folder = workspace.joinpath(*below[:depth])
        name = _chosen(folder, fallbacks)
        if name and folder / name != path:
            shown = Path(*below[:depth], name).as_posix()
            yield FoundFile(path=folder / name, name=shown, bounds=bounds)


def _chosen(folder: Path, fallbacks: Sequence[str]) -> str:
    """The name of the file that counts in a folder, "" where there is none."""
    names = (OVERRIDE, FILE, *fallbacks)
    return next((name for name in names if os.path.lexists(folder / name)), "")


def _folders(workspace: Path, home: Path) -> list[Path]:
    """The workspace and what is above it up to the root of its repository, or the home folder. Folders of
    other users do not count: everybody may put something above a folder in /tmp."""
    up = [workspace, *workspace.parents]
    ends = [place for place, folder in enumerate(up) if folder == home or os.path.lexists(folder / ".git")]
    reached = up[: ends[0] + 1] if ends else up[:1]
    strange = (place for place, folder in enumerate(reached) if place and not _is_ours(folder))
    return reached[: next(strange, len(reached))]


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False
