"""The list of what a sub-agent does, for editors."""

from __future__ import annotations

import pytest

pytest.importorskip("acp")

from keen_tui.domain.events import ToolStarted
from keen_tui.frontends.acp.call_updates import AgentSteps


def test_only_the_newest_steps_are_listed() -> None:
    steps = AgentSteps("explore")
    for number in range(100):
        steps.begin(
            ToolStarted(
                turn=1, step=number, id=str(number), name="bash", arguments={}, target=f"run {number}"
            )
        )
    lines = steps.text.splitlines()
    assert lines[0] == "Sub-agent explore, 100 calls:"
    assert lines[2:4] == ["- 70 earlier", "- `run 70` …"]
    assert (len(lines), lines[-1]) == (33, "- `run 99` …")
