"""What the command line does with work trees: begin in one, list them, remove one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from keen_tui.domain.errors import KeenError
from keen_tui.text.units import counted
from keen_tui.tools.git.work_trees import WorkTrees


def enter(name: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Make the work tree of that name the current folder; "" makes a new one. Returns sentences about it.

    Raises:
        ConfigError: the name can't be one, or there is no repository to begin with here. WorkTreeFailed: git
            can't make it.
    """
    begun = WorkTrees(environ).begin(Path.cwd(), name)
    tree, record = begun.tree, begun.tree.record
    os.chdir(tree.path)
    if not begun.is_new:
        return (f"This is the work tree {record.name} of {record.project}, on the branch {record.branch}.",)
    where = f"{record.base or 'commit'} {record.commit[:8]}".strip()
    new = f"A new work tree, {record.name} of {record.project}: branch {record.branch}, from {where}."
    if not begun.left_behind:
        return (new,)
    files = counted(begun.left_behind, "file")
    return (new, f"The project's uncommitted changes ({files}) don't come along.")


def way_on(folder: Path, environ: Mapping[str, str]) -> str:
    """Where the work tree of the current folder is, what it holds, and how to go on there."""
    tree = WorkTrees(environ).at(folder)
    if tree is None:
        return f"The work tree {folder} is gone."
    try:
        holds = tree.state().changes or "no changes"
    except KeenError as error:
        holds = str(error)
    name = tree.record.name
    return (
        f"The work tree {name}, branch {tree.record.branch}, has {holds}. It is in {tree.path}. "
        f"Continue with: keen-tui --worktree {name} --continue"
    )
