"""task_output: what a command in the background has printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.background.task_text import output_result
from keen_tui.tools.background.tasks import BackgroundTasks
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.process.bounded_output import OutputSink

LONGEST_WAIT: Final = 60


class TaskOutput:
    """Shows the output of a command, and whether it still runs."""

    spec = ToolSpec(
        name="task_output",
        description=(
            "Show what a command in the background (bash with background) has printed, and whether it is "
            "still running. For long output you get the end, and the name of a file with all of it. Don't "
            "poll: let the call wait for the end, or continue with other work; Keen tells you when a "
            "command ends."
        ),
        parameters={
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Its id, such as t1."},
                "since": {
                    "type": "integer",
                    "description": "Show only what came after this place, which the previous result names.",
                },
                "wait": {
                    "type": "integer",
                    "description": f"Seconds to wait for its end; 0 by default, at most {LONGEST_WAIT}.",
                },
            },
            "required": ["id"],
        },
    )
    only_reads = True

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "id")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        since, wait = given.get("since", 0), given.get("wait", 0)
        if since < 0 or not 0 <= wait <= LONGEST_WAIT:
            raise ToolFailure(f"task_output: since is from 0 up, wait from 0 to {LONGEST_WAIT}.")
        task = self._tasks.find(given["id"])

        async def run(_: OutputSink) -> ToolResult:
            if wait:
                await task.wait(wait)
            was_told = task not in self._tasks.untold
            result = output_result(task, since, was_told=was_told)
            if not task.running:
                self._tasks.told((task,))
            return result

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)
