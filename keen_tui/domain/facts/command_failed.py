"""Failed commands: all of them, in order."""

from __future__ import annotations

import json
from typing import Final

from keen_tui.domain.facts.remembered import FactRow, Remembered, breaks_line

_LONGEST: Final = 200
"""The most characters of a command in a request; an ellipsis replaces the rest."""


class CommandFailed(Remembered, frozen=True, kw_only=True):
    """A bash command ended with a non-zero exit code (124: timed out, 128+N: killed by signal N)."""

    FIELD = "failed_bash"
    SIGN = "✗"
    LABEL = "failed: "

    command: str
    exit_code: int

    @property
    def line(self) -> str:
        command = self.command[:_LONGEST] + ("…" if len(self.command) > _LONGEST else "")
        named = json.dumps(command) if breaks_line(command) else command
        return f"Failed bash: {named} (exit {self.exit_code})"

    @property
    def row(self) -> FactRow:
        came_to = f"exit {self.exit_code}"
        return FactRow(self.command, came_to, phrase=f"{self.command} ({came_to})", failed=True)
