"""Runs all hooks of an event at the same time, and combines their answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from keen_tui.agent.hooks.answers import BLOCKS_NOTHING, BadAnswer, HookAnswer, answer_of, joined
from keen_tui.agent.hooks.tool_names import UsualCall
from keen_tui.domain.events import Event, HookRunning
from keen_tui.settings.added.hooks import Hook, HookPoint, scripts_of
from keen_tui.system.background_jobs import BackgroundJobs
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line
from keen_tui.tools.process.hook_process import BLOCKS, HookRun

log = logging.getLogger(__name__)

SLOW_SECONDS: Final = 1.0
"""A hook that runs longer is shown."""

_GUARDS: Final[frozenset[HookPoint]] = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit"})
"""Events whose hooks may protect the user: if one of them can't do its work, the call asks or is denied."""

_MOST_SHOWN: Final = 120


class Programs(Protocol):
    """Runs a hook's command."""

    @property
    def folder(self) -> Path:
        """The folder in which it runs."""

    async def run(self, command: str, given: bytes, timeout: float) -> HookRun:
        """Run the command with `given` as its standard input. Raises OSError."""


class HookRunner:
    """Runs hooks.

    Args:
        hooks: all hooks, the user's first.
        programs: runs their commands; None: no hook runs.
        workspace: where the scripts of a project's hooks are.
        publish: where HookRunning goes.
        background: for hooks that nobody waits for.
        slow_seconds: SLOW_SECONDS.
    """

    def __init__(
        self,
        hooks: Sequence[Hook],
        programs: Programs | None,
        workspace: Path,
        publish: Callable[[Event], None],
        background: BackgroundJobs,
        *,
        slow_seconds: float = SLOW_SECONDS,
    ) -> None:
        self._hooks = tuple(hooks) if programs else ()
        self._programs = programs
        self._workspace = workspace
        self._publish = publish
        self._background = background
        self._slow_seconds = slow_seconds

    def has(self, point: HookPoint, *names: str, call: UsualCall | None = None) -> bool:
        """Whether hooks run at this event, for a subject with one of these names, or for this call."""
        return any(self._fitting(point, names, call))

    def _fitting(self, point: HookPoint, names: Sequence[str], call: UsualCall | None) -> Iterator[Hook]:
        for hook in self._hooks:
            fits_call = hook.fits_call(call.name, call.subject) if call else not hook.only_if
            if hook.point == point and hook.fits(*names) and fits_call:
                yield hook

    async def run(
        self,
        point: HookPoint,
        names: Sequence[str],
        given: Mapping[str, Any],
        turn: int,
        *,
        call: UsualCall | None = None,
        most_seconds: float | None = None,
    ) -> HookAnswer:
        """Run the hooks of the event and return their common answer. Of identical commands the first one
        runs. Hooks in the background answer nothing."""
        fitting: dict[str, Hook] = {}
        for hook in self._fitting(point, names, call):
            fitting.setdefault(hook.command, hook)
        content = msgspec.json.encode(given)
        waited = []
        for hook in fitting.values():
            running = self._answer(hook, content, turn, most_seconds)
            if hook.background:
                self._background.add(_unheard(running))
            else:
                waited.append(running)
        return joined(await asyncio.gather(*waited))

    async def _has_changed(self, hook: Hook) -> bool:
        """Whether a script of the hook isn't the one that the user agreed to."""
        if hook.origin != "project":
            return False
        try:
            return await asyncio.to_thread(scripts_of, hook.command, self._workspace) != hook.scripts
        except OSError:
            return True

    async def _answer(self, hook: Hook, given: bytes, turn: int, most_seconds: float | None) -> HookAnswer:
        """Returns the answer of the hook. If it fails, the user is told, and if it is a guard, the call
        asks."""
        if await self._has_changed(hook):
            return _changed(hook)
        assert self._programs
        timeout = hook.timeout if most_seconds is None else min(hook.timeout, most_seconds)
        try:
            async with self._shown(hook, turn):
                run = await self._programs.run(hook.command, given, timeout)
        except OSError as error:
            why = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
            return _failed(hook, f"can't be started: {why}", asks=True)
        except ValueError:  # a NUL byte
            return _failed(hook, "can't be started: its command isn't text", asks=True)
        if run.timed_out:
            return _failed(hook, f"took longer than {timeout:g} s and was ended", asks=True)
        if run.code not in (0, BLOCKS) or (run.code == BLOCKS and hook.point in BLOCKS_NOTHING):
            said = first_line(clean(run.errors or run.output, newlines=True))
            return _failed(hook, f"failed (exit {run.code})" + (f": {said}" if said else ""))
        try:
            return answer_of(hook.point, run)
        except BadAnswer as error:
            return _failed(hook, f"gave an answer that Keen doesn't understand: {error}", asks=True)

    @asynccontextmanager
    async def _shown(self, hook: Hook, turn: int) -> AsyncIterator[None]:
        """While it runs, show the hook from some time on."""
        is_shown = False

        def show() -> None:
            nonlocal is_shown
            is_shown = True
            self._publish(HookRunning(turn=turn, label=_name(hook)))

        waiting = asyncio.get_running_loop().call_later(self._slow_seconds, show)
        try:
            yield
        finally:
            waiting.cancel()
            if is_shown:
                self._publish(HookRunning(turn=turn, label=""))


async def _unheard(running: Coroutine[Any, Any, HookAnswer]) -> None:
    await running


def _changed(hook: Hook) -> HookAnswer:
    """The answer for a hook whose script is no longer the one that the user agreed to."""
    why = f"{_script(hook)} has changed since you agreed to it, so the hook doesn't run. Restart Keen."
    log.warning("a hook's script has changed: %s", hook.command)
    if hook.point not in _GUARDS:
        return HookAnswer(failures=(why,))
    return HookAnswer(ruling="deny", blocks=True, reason=why, failures=(why,))


def _script(hook: Hook) -> str:
    names = [clean(script.path) for script in hook.scripts] or [f"What {_name(hook)!r} runs"]
    return names[0] if len(names) == 1 else f"One of the files {', '.join(names)}"


def _failed(hook: Hook, how: str, *, asks: bool = False) -> HookAnswer:
    failures = (f"The hook {_name(hook)!r} for {hook.point} {how}.",)
    if not asks or hook.point not in _GUARDS:
        return HookAnswer(failures=failures)
    reason = f"{_name(hook)!r} {how}"
    if hook.point == "UserPromptSubmit":
        return HookAnswer(blocks=True, reason=reason)
    return HookAnswer(ruling="ask", reason=reason, failures=failures)


def _name(hook: Hook) -> str:
    name = clean(hook.label)
    return name if len(name) <= _MOST_SHOWN else f"{name[:_MOST_SHOWN]}…"
