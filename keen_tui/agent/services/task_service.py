"""The commands in the background of a session, for front ends."""

from __future__ import annotations

from keen_tui.domain.background import TaskReport
from keen_tui.domain.errors import SessionRefused, ToolFailure
from keen_tui.tools.background.tasks import BackgroundTask, BackgroundTasks


class TaskService:
    """Shows them and stops them."""

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks

    def tasks(self) -> tuple[TaskReport, ...]:
        """All that are known, the newest first."""
        return tuple(task.report for task in reversed(self._tasks.all))

    def output(self, id: str) -> str:
        """The end of its output, cleaned. Raises SessionRefused: there is none of this id."""
        return self._found(id).output.since(0).text

    async def stop(self, id: str) -> str:
        """End it; returns a sentence. Raises SessionRefused: there is none of this id."""
        task = self._found(id)
        await self._tasks.stop_for_person(task)
        return f"{task.id} {task.state}."

    def move(self) -> None:
        """Let the running command go on in the background. Raises SessionRefused: there is none, or it can't
        be moved now."""
        try:
            self._tasks.move()
        except ToolFailure as failure:
            raise _refused(failure) from None

    def _found(self, id: str) -> BackgroundTask:
        try:
            return self._tasks.find(id)
        except ToolFailure as failure:
            raise _refused(failure) from None


def _refused(failure: ToolFailure) -> SessionRefused:
    return SessionRefused(f"{str(failure)[:1].upper()}{str(failure)[1:]}")
