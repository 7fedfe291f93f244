"""Reports a session's surroundings at its start: the sandbox for commands, files that were set aside, MCP
servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from keen_tui.agent.session_state import newest_todos
from keen_tui.domain.background import TaskReport
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import BackgroundChanged, Event, Notice, NoticeOver, SandboxFound
from keen_tui.domain.permitted import Permitted
from keen_tui.tools.toolbox import Toolbox


class Surroundings:
    """Finds them out when the first request no longer has to wait for it, and publishes the result."""

    def __init__(
        self,
        toolbox: Toolbox,
        publish: Callable[[Event], None],
        newest_turn: Callable[[], int],
        is_running: Callable[[], bool],
        *,
        attended: bool,
    ) -> None:
        def turn() -> int:
            return newest_turn() if is_running() else 0

        self._toolbox = toolbox
        self._publish = publish
        self._sandbox = ""
        toolbox.tasks.turn = turn
        toolbox.tasks.tell = lambda sentence: publish(Notice(turn=newest_turn(), text=sentence))
        toolbox.tasks.changed = self._tasks_changed
        self._told_running = ""
        if toolbox.servers:
            toolbox.servers.attended = attended
            toolbox.servers.tell = lambda sentence: publish(Notice(turn=turn(), text=sentence))
            toolbox.servers.tell_over = lambda sentence: publish(NoticeOver(text=sentence))

    def start_servers(self) -> None:
        """Start the MCP servers in the background."""
        if self._toolbox.servers:
            self._toolbox.servers.start()

    def begin_session(self, past: Sequence[Event]) -> None:
        """Another session begins, with these events: its to-do list, and no tools of servers found yet."""
        self._toolbox.todos.items = newest_todos(past)
        self._toolbox.tasks.begin_session()
        if self._toolbox.servers:
            self._toolbox.servers.forget_found()

    def tell_of_running(self, mode: Mode) -> None:
        """In plan mode, tell the user that commands in the background go on."""
        running = self._toolbox.tasks.running
        if mode == "plan" and running:
            what = "A command is" if len(running) == 1 else f"{len(running)} commands are"
            ids = ", ".join(task.id for task in running)
            self._told_running = f"{what} still running in the background ({ids}); /tasks stop ID ends one."
            self._publish(Notice(turn=0, text=self._told_running))

    def _tasks_changed(self, running: tuple[TaskReport, ...], ended: tuple[TaskReport, ...]) -> None:
        self._publish(BackgroundChanged(tasks=running, ended=ended))
        if ended and self._told_running:
            self._publish(NoticeOver(text=self._told_running))
            self._told_running = ""

    async def end_programs(self) -> None:
        """End the commands in the background and the MCP servers, and wait until they are gone."""
        await self._toolbox.tasks.close()
        if self._toolbox.servers:
            await self._toolbox.servers.close()

    async def report_all(self) -> None:
        """Report the sandbox, and what a program that ended left to decide or to save."""
        await asyncio.gather(self.report_sandbox(), self.report_set_aside(), self.report_saved_commits())

    async def report_sandbox(self) -> None:
        """Find the sandbox for commands."""
        found = await self._toolbox.sandbox.found()
        name = found.sandbox.name if found.sandbox else ""
        self._sandbox = found.description
        self._publish(SandboxFound(name=name, reason=found.sentence))

    async def report_set_aside(self) -> None:
        """Tell the user once which files were set aside by a program that ended before anybody decided."""
        for sentence in await asyncio.to_thread(self._toolbox.undecided_files):
            self._publish(Notice(turn=0, text=sentence))

    async def report_saved_commits(self) -> None:
        """Tell the user which commits of a command were saved that ran when Keen was killed."""
        for sentence in await asyncio.to_thread(self._toolbox.saved_commits):
            self._publish(Notice(turn=0, text=sentence))

    async def missing_sandbox(self) -> str:
        """Why commands have no sandbox here; "" if they have one, or if the user turned it off."""
        found = await self._toolbox.sandbox.found()
        return "" if found.sandbox else found.reason

    def added_to(self, permitted: Permitted) -> Permitted:
        """Returns the permissions, with the sandbox and the files that were set aside added."""
        return replace(permitted, sandbox=self._sandbox, set_aside=self._toolbox.set_aside)
