"""The hooks of a repository, which belong to the user, and which of them a command would run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from keen_tui.tools.git.config import GitConfig
from keen_tui.tools.permissions.shell.git_writers import GitCommand

PRE_COMMIT: Final = "pre-commit"

_BEFORE: Final = {
    "commit": ("prepare-commit-msg", "commit-msg", "reference-transaction"),
    "merge": ("pre-merge-commit", "prepare-commit-msg", "commit-msg", "reference-transaction"),
}
"""Hooks that may refuse or change a command, and need the repository for that."""
_AFTER: Final = {
    "commit": ("post-commit", "post-rewrite"),
    "merge": ("post-merge",),
    "switch": ("post-checkout",),
    "checkout": ("post-checkout",),
}


class Hooks:
    """The hooks in the folder that the settings name.

    Args:
        root: the top of the work tree.
        repository: the part of the repository that all its work trees share.
    """

    def __init__(self, root: Path, repository: Path, config: GitConfig) -> None:
        named = config.value("core.hookspath")
        self._elsewhere = named.startswith("~")
        self._folder = root / named if named else repository / "hooks"

    def objection(self, command: GitCommand) -> str:
        """Why the command can't run without its hooks, as the end of a sentence; "" if it can."""
        if self._elsewhere:
            return "your hooks are in your home folder"
        for name in _BEFORE.get(command.verb, ("reference-transaction",)):
            if self.path(name):
                return f"the hook {name} of this repository has to run"
        if command.verb == "commit" and self.path(PRE_COMMIT) and (command.operands or command.paths):
            return "the hook pre-commit of this repository has to see only the files that are named"
        return ""

    def left_out(self, command: GitCommand) -> tuple[str, ...]:
        """The hooks that would have run after the command."""
        return tuple(name for name in _AFTER.get(command.verb, ()) if self.path(name))

    def path(self, name: str) -> Path | None:
        """The hook; None if there is none that git would run."""
        path = self._folder / name
        return path if path.is_file() and os.access(path, os.X_OK) else None
