"""Work trees of sub-agents, each once."""

from __future__ import annotations

from collections.abc import Sequence

from keen_tui.domain.facts.remembered import Remembered


class WorkTreeChanged(Remembered, frozen=True, kw_only=True):
    """A sub-agent changed something in its own git work tree, so nothing in the workspace."""

    FIELD = "work_trees"
    ONCE_BY = "name"
    LINE = "Work tree: {name} (branch {branch})"
    TEXT = "{branch}"
    CAME_TO = "work tree"
    SIGN = "±"
    LABEL = "work tree: "

    name: str
    branch: str

    @classmethod
    def count(cls, facts: Sequence[WorkTreeChanged]) -> str:
        return f"{len(facts):,} work tree{'s' if len(facts) > 1 else ''}"
