"""Runs the program and watches it from inside: `python -P watch.py REPORT WATCHES FLAGS...`.

WATCHES is one or more of these, with commas between them:

- stalls: how long the event loop worked without looking at its timers from the first paint on, and every
  garbage collection
- steps: how long each step of each coroutine took
- syncs: in which thread each fdatasync was called
- paint: the modules that were loaded when the composer was first painted

The program doesn't know about it: the watch replaces its event loop. SIGUSR1 writes the report and resets the
counts. It imports only the standard library, because it is loaded before everything else.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from pathlib import Path
from typing import Any

BEAT = 0.005
"""Seconds between two checks of how long the watch had to wait."""

MOST_STALLS = 10_000
"""How many of the longest stalls are reported."""

PROMPT_SIGN = "›"


class Watch:
    """The observations of the program. Seconds are CPU time of the event loop's thread."""

    def __init__(self, report: Path, watches: set[str]) -> None:
        self._report = report
        self._watches = watches
        self._loop_thread = threading.get_ident()
        self._modules: list[str] = []
        self._begin()

    def on_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Watch this event loop."""
        signal.signal(signal.SIGUSR1, lambda *_: self._write(loop))
        if "steps" in self._watches:
            loop.set_task_factory(self._task)
        if "syncs" in self._watches:
            self._count_syncs()
        if self._watches & {"paint", "stalls"}:
            loop.call_soon(self._see_first_paint, loop)
        if "stalls" in self._watches:
            gc.callbacks.append(self._collected)

    def _begin(self) -> None:
        """Start counting."""
        self._stalls: list[float] = []
        self._collections: list[tuple[int, float]] = []
        self._steps: dict[str, list[float]] = {}
        self._syncs = {"loop": 0, "threads": 0}
        self._last = time.thread_time()

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        timers = [handle for handle in loop._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        found = {
            "beats": len(self._stalls),
            "stalls": sorted(self._stalls, reverse=True)[:MOST_STALLS],
            "collections": self._collections,
            "steps": self._steps,
            "syncs": self._syncs,
            "timers": [str(handle) for handle in timers if "Watch." not in str(handle)],
            "modules": self._modules,
        }
        new = self._report.with_suffix(".new")
        new.write_text(json.dumps(found))
        new.replace(self._report)
        self._begin()

    def _count_syncs(self) -> None:
        original = os.fdatasync

        def counted(descriptor: Any) -> None:
            on_loop = threading.get_ident() == self._loop_thread
            self._syncs["loop" if on_loop else "threads"] += 1
            original(descriptor)

        os.fdatasync = counted  # type: ignore[assignment]

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.thread_time()
        self._stalls.append(now - self._last)
        self._last = now
        loop.call_later(BEAT, self._beat, loop)

    def _collected(self, phase: str, facts: dict[str, Any]) -> None:
        now = time.thread_time()
        if threading.get_ident() != self._loop_thread:
            return
        if phase == "start":
            self._collecting = now
        else:
            self._collections.append((facts["generation"], now - self._collecting))

    def _task(
        self, loop: asyncio.AbstractEventLoop, deed: Any, context: Context | None = None
    ) -> asyncio.Task[Any]:
        name = getattr(deed, "__qualname__", "?")
        timed = _Timed(deed, lambda seconds: self._stepped(name, seconds))
        return asyncio.Task(timed if asyncio.iscoroutine(deed) else deed, loop=loop, context=context)

    def _stepped(self, name: str, seconds: float) -> None:
        count, whole, longest = self._steps.get(name, (0, 0.0, 0.0))
        self._steps[name] = [count + 1, whole + seconds, max(longest, seconds)]

    def _see_first_paint(self, loop: asyncio.AbstractEventLoop) -> None:
        """Once the driver exists, note the modules that are loaded when the composer is painted, and begin
        to look for stalls."""
        module = sys.modules.get("keen_tui.frontends.tui.terminal.driver")
        if module is None or not hasattr(module, "KeenDriver"):
            loop.call_later(0.001, self._see_first_paint, loop)
            return
        original = module.KeenDriver.write

        def write(driver: Any, data: str) -> None:
            original(driver, data)
            if PROMPT_SIGN in data:
                module.KeenDriver.write = original
                self._painted(loop)

        module.KeenDriver.write = write

    def _painted(self, loop: asyncio.AbstractEventLoop) -> None:
        """The composer is painted for the first time."""
        self._modules = sorted(sys.modules)
        if "stalls" in self._watches:
            self._begin()
            loop.call_soon(self._beat, loop)


class _Timed(Coroutine[Any, Any, Any]):
    """A coroutine that times every step."""

    def __init__(self, deed: Coroutine[Any, Any, Any], stepped: Callable[[float], None]) -> None:
        self._deed = deed
        self._stepped = stepped

    def send(self, value: Any) -> Any:
        begin = time.thread_time()
        try:
            return self._deed.send(value)
        finally:
            self._stepped(time.thread_time() - begin)

    def throw(self, *error: Any) -> Any:
        return self._deed.throw(*error)

    def close(self) -> None:
        self._deed.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._deed.__await__()


class _Policy(asyncio.DefaultEventLoopPolicy):
    """Creates event loops, and watches only that of the main thread."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        if threading.current_thread() is threading.main_thread():
            self._watch.on_loop(loop)
        return loop


def main() -> int:
    report, watches, *flags = sys.argv[1:]
    asyncio.set_event_loop_policy(_Policy(Watch(Path(report), set(watches.split(",")))))
    sys.argv = ["keen-tui", *flags]
    from keen_tui.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
