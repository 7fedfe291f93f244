"""Which turn has a call that lasts, so that Activity is worth its room."""

from __future__ import annotations

from typing import Final

from keen_tui.domain.own_tools import TASK
from keen_tui.frontends.tui.state.state import Block, ToolBlock, UiState

_LASTS: Final = 2.0
"""Seconds after which a running call is worth more than a row."""


class Lasting:
    """Remembers the newest turn with such a call, to the end of that turn."""

    def __init__(self) -> None:
        self._turn = ("", 0)

    def is_quick(self, state: UiState, now: float) -> bool:
        """Whether nothing of the newest turn lasts or has lasted, and no command runs in the background."""
        newest = state.session_id, state.turns[-1].turn if state.turns else 0
        if any(_lasts(block, now) for block in state.live):
            self._turn = newest
        return not state.tasks and (not state.turns or newest != self._turn)


def _lasts(block: Block, now: float) -> bool:
    """Whether it is a call that has run for a while, or a sub-agent at work."""
    if not isinstance(block, ToolBlock) or block.status != "running":
        return False
    return block.name == TASK or now - block.started_at >= _LASTS
