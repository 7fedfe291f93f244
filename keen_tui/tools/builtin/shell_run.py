"""One run of a command of the tool bash, and why it should run again outside the sandbox."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from keen_tui.domain.messages import ToolResult
from keen_tui.system.time_limit import TimeLimit
from keen_tui.tools.git.shown_repository import GitUse
from keen_tui.tools.network.gate import HostGate
from keen_tui.tools.quarantine.new_files import NewFiles
from keen_tui.tools.sandbox.base import Sandbox, Terms
from keen_tui.tools.sandbox.failure_signs import stopped_by_sandbox

MOST_NAMED = 5
"""The most files that a sentence names."""


class ShellRun(Struct, kw_only=True):
    """The sandbox of a command and its terms, its network access, and its time limit. `git` is its use of the
    repository. `written` are the files that it wrote to the sandbox's own home. `new` sets new files aside.
    `is_moved`: it went to the background. `apart` says why no other command reaches its ports, "" if others
    do."""

    sandbox: Sandbox | None
    terms: Terms
    gate: HostGate | None
    limit: TimeLimit
    git: GitUse | None
    written: list[str]
    new: NewFiles | None
    is_moved: bool = False
    apart: str = ""

    @property
    def left_behind(self) -> tuple[str, ...]:
        """Sentences about changes of the repository that stayed in the sandbox."""
        return tuple(self.git.sentences) if self.git else ()


def why_outside(
    sandbox: Sandbox | None,
    gate: HostGate | None,
    written: Sequence[str],
    uses: Sequence[GitUse],
    result: ToolResult,
) -> str:
    """Why a command should run again outside, "" if it shouldn't. A person who has just refused a host isn't
    asked, and a command that has committed must not run again."""
    if any(use.brought_back.is_done for use in uses):
        return ""
    if written and not result.exit_code:
        return f"it wrote {', '.join(written[:MOST_NAMED])} only to the sandbox's own home"
    if result.exit_code and gate and gate.refused:
        return "" if gate.declined else f"it could not reach {gate.refused[0]}"
    return stopped_by_sandbox(sandbox.name, result) if sandbox else ""
