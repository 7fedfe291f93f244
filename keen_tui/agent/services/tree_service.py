"""The work tree of the session, for front ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.domain.reports import Changes, TreeReport
from keen_tui.system.presence import present_in
from keen_tui.tools.git.linked_tree import LinkedTree


class TreeService:
    """Shows what the work tree holds, merges it, and removes it at the end."""

    def __init__(self, tree: LinkedTree, environ: Mapping[str, str]) -> None:
        self._tree = tree
        self._environ = environ
        self._removes = self._with_changes = False

    @property
    def name(self) -> str:
        """Its name."""
        return self._tree.record.name

    @property
    def branch(self) -> str:
        """Its branch."""
        return self._tree.record.branch

    @property
    def project(self) -> Path:
        """The folder that it was made from."""
        return Path(self._tree.record.project)

    async def report(self) -> TreeReport:
        """Returns the current state of the work tree. Raises WorkTreeFailed."""
        state = await asyncio.to_thread(self._tree.state)
        return TreeReport(
            changes=state.changes,
            ahead=state.ahead,
            base=state.base,
            follows=state.follows,
            is_merged=state.is_merged,
        )

    async def merge(self) -> str:
        """Move the branch on which it was begun forward to it; returns a sentence. Raises WorkTreeFailed."""
        return await asyncio.to_thread(self._tree.merge)

    async def changes(self) -> Changes:
        """Everything that it has and that branch lacks, file by file. Raises WorkTreeFailed."""
        files = await asyncio.to_thread(self._tree.changed_files)
        base = self._tree.record.base or self._tree.record.commit[:10]
        return Changes(turn=0, title=f"beside {base}", files=files, whose=f"the work tree {self.name}")

    async def write_patch(self) -> Path:
        """Write the same as a patch; returns its file. Raises WorkTreeFailed."""
        return await asyncio.to_thread(self._tree.write_patch)

    def remove_at_end(self, *, with_changes: bool) -> None:
        """Remove it once the session is closed, with what it has only if `with_changes`."""
        self._removes, self._with_changes = True, with_changes

    async def leave(self) -> str:
        """The session is closed: remove the work tree if that was wanted. Returns a sentence about that, ""
        if it stays. Never raises."""
        if not self._removes:
            return ""
        if present_in(self._environ, self._tree.path):
            return f"The work tree {self.name} was not removed, since another Keen works there."
        try:
            return await asyncio.to_thread(self._tree.remove, with_changes=self._with_changes)
        except WorkTreeFailed as error:
            return str(error)
