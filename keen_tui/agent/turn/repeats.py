"""Notices when a model makes the same call over and over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keen_tui.domain.messages import ToolCall

EVERY = 5
"""Number of identical calls in a row after which the user is told, and told again."""


class RepeatWatch:
    """Counts identical calls in a row."""

    def __init__(self) -> None:
        self._last: tuple[str, Mapping[str, Any]] | None = None
        self._count = 0

    def note(self, call: ToolCall) -> str | None:
        """Count the call; returns a sentence for the user if it has come too often, else None."""
        same = self._last == (call.name, call.arguments)
        self._count = self._count + 1 if same else 1
        self._last = (call.name, call.arguments)
        if self._count % EVERY:
            return None
        return f"The model has made the same {call.name} call {self._count} times in a row."
