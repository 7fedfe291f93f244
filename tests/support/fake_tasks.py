"""Commands in the background that only say what they are, and what they are told to do."""

from __future__ import annotations

from msgspec.structs import replace

from keen_tui.domain.background import TaskReport
from keen_tui.domain.errors import SessionRefused

TASKS = (
    TaskReport(
        id="t2",
        command="npm run dev",
        state="running for 2 min",
        running=True,
        failed=False,
        stopped=False,
        turn=3,
        bytes=1234,
        last_line="ready on port 3000",
    ),
    TaskReport(
        id="t1",
        command="make test",
        state="ended after 4 s, exit code 2",
        running=False,
        failed=True,
        stopped=False,
        turn=1,
        bytes=0,
        last_line="",
    ),
)


class FakeTasks:
    """Two commands, of which one runs until it is stopped."""

    def __init__(self, tasks: tuple[TaskReport, ...] = TASKS) -> None:
        self._tasks = {task.id: task for task in tasks}

    def tasks(self) -> tuple[TaskReport, ...]:
        return tuple(self._tasks.values())

    def output(self, id: str) -> str:
        return f"building\n{self._found(id).last_line}\n"

    def move(self) -> None:
        raise SessionRefused("There is no running command to move to the background.")

    async def stop(self, id: str) -> str:
        self._tasks[id] = replace(self._found(id), running=False, stopped=True, state="stopped after 2 min")
        return f"{id} stopped after 2 min."

    def _found(self, id: str) -> TaskReport:
        if task := self._tasks.get(id):
            return task
        raise SessionRefused(f"There is no command {id!r} in the background.")
