"""Commands in the background. A call starts one or the user moves one there; it ends on its own, or the
model, the user or the end of the program ends it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.background import TaskReport
from keen_tui.domain.errors import ToolFailure
from keen_tui.system.threads import to_the_end
from keen_tui.system.time_limit import TimeLimit
from keen_tui.text.sanitize import clean
from keen_tui.text.units import duration
from keen_tui.tools.background.task_record import HeldOutput
from keen_tui.tools.process.process import Ended
from keen_tui.tools.quarantine.new_files import NewFiles

MOST_RUNNING: Final = 16
"""The most commands that run in the background at once."""

_MOST_KNOWN: Final = 100
"""The most finished commands that are remembered, the newest."""

_STOP_SECONDS: Final = 5.0
"""Seconds after which a command that should stop is killed, even if it hasn't begun to run."""

EndedTask = tuple[Ended, tuple[str, ...]]
"""How a command ended, and sentences about changes of it that stayed in the sandbox."""

Work = Callable[[Callable[[bytes], None]], Awaitable[EndedTask]]
"""Runs a command to its end, and passes its output to the callback."""


class BackgroundTask:
    """A command that runs on after its call. `id` names it for the model and the person; `turn` is the number
    of the turn that started it, 0 if that was in another session; `new_files` sets new files aside that can
    run code, None if nothing is set aside."""

    def __init__(
        self,
        id: str,
        command: str,
        turn: int,
        output: HeldOutput,
        limit: TimeLimit,
        new_files: NewFiles | None,
        clock: Callable[[], float],
    ) -> None:
        self.id = id
        self.command = clean(" ".join(command.split()))
        self.turn = turn
        self.output = output
        self.new_files = new_files
        self.exit_code: int | None = None
        """Its exit code; None while it runs, or if it couldn't run to its end."""
        self.stopped = False
        """Whether the model or the person ended it."""
        self.is_started = False
        """Whether the call that started it has returned."""
        self.set_aside = 0
        """The number of files that were set aside and reported."""
        self.left_behind: tuple[str, ...] = ()
        """Sentences about changes that stayed in the sandbox, once it has ended."""
        self._problem = ""
        self._limit = limit
        self._clock = clock
        self._begun = clock()
        self._seconds = 0.0
        self._is_over = False
        self._work: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it is running."""
        return not self._is_over

    @property
    def seconds(self) -> float:
        """Seconds that it has run so far, or ran."""
        return self._clock() - self._begun if self.running else self._seconds

    @property
    def failed(self) -> bool:
        """Whether it ended on its own, and with a failure."""
        return not (self.running or self.stopped) and self.exit_code != 0

    @property
    def state(self) -> str:
        """Its state in a few words: "running for 2 min"."""
        for_long = duration(self.seconds)
        if self.running:
            return f"running for {for_long}"
        if self.stopped:
            return f"stopped after {for_long}"
        if self._problem:
            return f"failed after {for_long}: {self._problem}"
        return f"ended after {for_long}, exit code {self.exit_code}"

    @property
    def report(self) -> TaskReport:
        """Its state for front ends."""
        return TaskReport(
            id=self.id,
            command=self.command,
            state=self.state,
            running=self.running,
            failed=self.failed,
            stopped=self.stopped and not self.running,
            turn=self.turn,
            bytes=self.output.size,
            last_line=self.output.last_line,
            file=self.output.file,
            left_behind=self.left_behind,
        )

    def start(self, work: Work, ended: Callable[[BackgroundTask], None], printed: Callable[[], None]) -> None:
        """Start it. `ended` is called when it has ended; `printed` is called, in any thread, when it has
        printed something."""
        self._work = asyncio.create_task(self._run(work, ended, printed))

    async def wait(self, seconds: float) -> None:
        """Wait until it has ended, at most this many seconds."""
        if self._work:
            await asyncio.wait({self._work}, timeout=seconds)

    async def stop(self) -> None:
        """End it with all its processes, SIGTERM first, and wait for its end."""
        if self.running:
            self.stopped = True
            self._limit.expire()
            await self.wait(_STOP_SECONDS)
            await self.kill()

    async def kill(self) -> None:
        """Kill it at once."""
        if self._work and self.running:
            self.stopped = True
            self._work.cancel()
            await asyncio.wait({self._work})

    async def _run(
        self, work: Work, ended: Callable[[BackgroundTask], None], printed: Callable[[], None]
    ) -> None:
        def feed(chunk: bytes) -> None:
            self.output.feed(chunk)
            printed()

        try:
            how, self.left_behind = await work(feed)
            self.exit_code = how.code
        except OSError as error:
            self._problem = error.strerror or str(error)
        except ToolFailure as failure:
            self._problem = str(failure)
        finally:
            self._seconds = self._clock() - self._begun
            await asyncio.shield(asyncio.to_thread(self.output.end))
            self._is_over = True
        ended(self)


class _Awaited(Struct, frozen=True):
    """A command that a call waits for. `moved` is done when the command moves to the background; `objection`
    returns why it can't move at that moment, "" if it can."""

    moved: asyncio.Future[None]
    objection: Callable[[], str]


class BackgroundTasks:
    """All commands in the background, including those that have ended."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.turn: Callable[[], int] = lambda: 0
        """Returns the number of the running turn."""
        self.tell: Callable[[str], None] = lambda sentence: None
        """Tells the person that one has ended."""
        self.changed: Callable[[tuple[TaskReport, ...], tuple[TaskReport, ...]], None] = lambda *_: None
        """Gets the running commands, newest first, when one begins or ends, and soon after one printed; and
        those that have just ended, unless the result of their call says so."""
        self._clock = clock
        self._tasks: dict[str, BackgroundTask] = {}
        self._untold: list[BackgroundTask] = []
        self._notes: list[str] = []
        self._awaited: list[_Awaited] = []
        self._count = 0
        self._news = Throttle(self._report)

    @property
    def all(self) -> Sequence[BackgroundTask]:
        """All that are remembered, oldest first."""
        return tuple(self._tasks.values())

    @property
    def running(self) -> Sequence[BackgroundTask]:
        """The running ones, oldest first."""
        return tuple(task for task in self._tasks.values() if task.running)

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about files that were set aside, of which the model wasn't told yet."""
        return tuple(self._notes)

    @property
    def untold(self) -> Sequence[BackgroundTask]:
        """Those that ended, of which the model wasn't told yet."""
        return tuple(self._untold)

    def find(self, id: str) -> BackgroundTask:
        """The command with this id. Raises ToolFailure, which lists the known ids, if there is none."""
        if task := self._tasks.get(id):
            return task
        known = ", ".join(self._tasks) or "none"
        raise ToolFailure(f"there is no command {clean(id)[:40]!r} in the background. There are: {known}.")

    def start(
        self, command: str, output: HeldOutput, limit: TimeLimit, new_files: NewFiles | None, work: Work
    ) -> BackgroundTask:
        """Start a command. Raises ToolFailure if too many are running."""
        self._require_room("end one with task_stop")
        return self.adopt(command, output, limit, new_files, work)

    async def awaited(self, work: asyncio.Task[Any], objection: Callable[[], str]) -> bool:
        """Wait for the command of a call. Returns False when it has ended, True if `move` was called first.
        If this is cancelled, it cancels the command and waits for its end. `objection` returns why the
        command can't move at that moment, "" if it can."""
        awaited = _Awaited(asyncio.get_running_loop().create_future(), objection)
        self._awaited.append(awaited)
        try:
            await asyncio.wait({work, awaited.moved}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.cancel()
            await to_the_end(asyncio.wait({work}))
            raise
        finally:
            self._awaited.remove(awaited)
        return not work.done()

    def move(self) -> None:
        """Move the command that a call waits for to the background: the newest one if there are several.

        Raises:
            ToolFailure: there is none, or it can't move at that moment.
        """
        if not self._awaited:
            raise ToolFailure("there is no running command to move to the background.")
        self._require_room("end one first")
        awaited = self._awaited[-1]
        if objection := awaited.objection():
            raise ToolFailure(objection)
        if not awaited.moved.done():
            awaited.moved.set_result(None)

    def adopt(
        self, command: str, output: HeldOutput, limit: TimeLimit, new_files: NewFiles | None, work: Work
    ) -> BackgroundTask:
        """Add and start a command, however many are running."""
        self._count += 1
        task = BackgroundTask(f"t{self._count}", command, self.turn(), output, limit, new_files, self._clock)
        self._tasks[task.id] = task
        for old in [each.id for each in self.all if not each.running][:-_MOST_KNOWN]:
            del self._tasks[old]
        loop = asyncio.get_running_loop()
        task.start(work, self._ended, lambda: self._news.soon(loop))
        self._news.now()
        return task

    def told(self, tasks: Sequence[BackgroundTask], notes: Sequence[str] = ()) -> None:
        """Note that the model was told of the end of these commands, and of these notes."""
        self._untold = [task for task in self._untold if task not in tasks]
        self._notes = [note for note in self._notes if note not in notes]

    async def stop_for_person(self, task: BackgroundTask) -> None:
        """End a command for the person. The model is told with its next request."""
        if task.running:
            await task.stop()
            self._untold.append(task)

    def begin_session(self) -> None:
        """Call this when another session is opened: the commands run on, but no turn of it started them."""
        for task in self.all:
            task.turn = 0

    async def close(self) -> None:
        """Kill all running commands."""
        await asyncio.gather(*(task.kill() for task in self.running))
        self._news.stop()

    async def check(self) -> None:
        """Keep back new files that the commands have created so far and that can run code."""
        for task, new in self._watched:
            await asyncio.to_thread(new.check)
            self._tell_of_kept(task)

    async def accept(self, paths: Collection[str]) -> None:
        """Don't set the files at these paths aside: the user agreed to them."""
        for _, new in self._watched:
            await asyncio.to_thread(new.accept, paths)

    def _require_room(self, remedy: str) -> None:
        if len(self.running) >= MOST_RUNNING:
            raise ToolFailure(f"at most {MOST_RUNNING} commands can run in the background: {remedy}.")

    @property
    def _watched(self) -> Sequence[tuple[BackgroundTask, NewFiles]]:
        watched = ((task, task.new_files) for task in self.running)
        return [(task, new) for task, new in watched if new and new.scope != "nothing"]

    def _ended(self, task: BackgroundTask) -> None:
        self._news.stop()
        if not task.is_started:
            self._report()
            return  # the result of its call says so
        self._report(task)
        if not task.stopped:
            self._untold.append(task)
            self.tell(f"In the background: {task.id} {task.state}: {task.command[:200]}")
        self._tell_of_kept(task)

    def _report(self, *ended: BackgroundTask) -> None:
        running = tuple(task.report for task in reversed(self.running))
        self.changed(running, tuple(task.report for task in ended))

    def _tell_of_kept(self, task: BackgroundTask) -> None:
        new = task.new_files
        if new is None or len(new.names) == task.set_aside:
            return
        task.set_aside = len(new.names)
        self.tell(f"Set aside in {' and '.join(new.places)}: {new.listed}.")
        why = "it can run code later, so the user has to approve it"
        what = f"{new.listed}, created while {task.id} ran"
        self._notes.append(f"set aside, and no longer in the workspace: {what}; {why}")


INTERVAL: Final = 0.5
"""Seconds between a change that can wait and its report."""


class Throttle:
    """Calls `tell` in the event loop, at most once per `INTERVAL` for changes that can wait. No timer runs
    while nothing changes."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._is_due = False
        self._timer: asyncio.TimerHandle | None = None

    def soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Report within `INTERVAL`. Thread-safe."""
        with self._lock:
            was_due, self._is_due = self._is_due, True
        if not was_due:
            with suppress(RuntimeError):  # the loop is closed: the program ends
                loop.call_soon_threadsafe(self._wait, loop)

    def now(self) -> None:
        """Report at once, together with a report that was due."""
        self.stop()
        self._tell()

    def stop(self) -> None:
        """Drop a report that is due."""
        if self._timer:
            self._timer.cancel()
        with self._lock:
            self._is_due = False

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(INTERVAL, self._due)

    def _due(self) -> None:
        if self._is_due:
            self.now()
