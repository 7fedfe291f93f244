"""task_stop: ends a command in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.background.task_text import output_result
from keen_tui.tools.background.tasks import BackgroundTasks
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.process.bounded_output import OutputSink


class TaskStop:
    """Ends a command with all its processes."""

    spec = ToolSpec(
        name="task_stop",
        description="End a command in the background with all its processes, and show the end of its output.",
        parameters={
            "type": "object",
            "properties": {"id": {"type": "string", "description": "Its id, such as t1."}},
            "required": ["id"],
        },
    )
    only_reads = False

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "id")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        task = self._tasks.find(checked(self.spec, arguments)["id"])

        async def run(_: OutputSink) -> ToolResult:
            await task.stop()
            result = output_result(task, 0, was_told=task not in self._tasks.untold)
            self._tasks.told((task,))
            return result

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)
