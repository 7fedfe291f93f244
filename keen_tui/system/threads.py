"""Work that is waited for even by a task that was cancelled, and work in threads that can be left behind."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

_Value = TypeVar("_Value")


async def in_thread_to_the_end(work: Callable[[], _Value]) -> _Value:
    """What `work` returns. If the task is cancelled meanwhile, the work continues and the cancellation is
    forgotten. So use this only at the end of a job, when nothing follows that could be stopped."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    while not doing.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({doing})
    return doing.result()


def raise_if_cancelled() -> None:
    """Raises CancelledError if this task was cancelled, even if something has caught that error since: a stop
    stays in force for everything that follows."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def to_the_end(job: Coroutine[Any, Any, _Value]) -> _Value:
    """What the job returns. If the task is cancelled meanwhile, however often, the job goes on, and the
    cancellation is raised at its end."""
    doing = asyncio.ensure_future(job)
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait({doing})
        except asyncio.CancelledError as error:
            cancelled = error
    value = doing.result()
    if cancelled:
        raise cancelled
    return value


async def called(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """What a function of somebody else's program returns. A coroutine function runs in the event loop, a
    plain one in a thread of its own, where it may block. If the task is cancelled, the thread is left behind;
    it keeps no program from ending.

    Raises:
        Exception: what the function raised.
    """
    try:
        if is_coroutine_function(function):
            return await function(*arguments, **named)
        value = await _in_own_thread(lambda: function(*arguments, **named))
        return await value if inspect.isawaitable(value) else value
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("it raised CancelledError") from error  # nobody has cancelled this task


def is_coroutine_function(function: object) -> bool:
    """Whether calling it gives a coroutine."""
    return any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))  # noqa: B004


def run_in_thread(name: str, work: Callable[[], None], then: Callable[[], None]) -> None:
    """Run `work` in a thread, and then `then` in the event loop, if it is still there."""
    loop = asyncio.get_running_loop()

    def run() -> None:
        try:
            work()
        finally:
            with suppress(RuntimeError):  # the loop is closed: the user has left
                loop.call_soon_threadsafe(then)

    threading.Thread(target=run, name=name, daemon=True).start()


async def _in_own_thread(work: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def tell(value: Any, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(value)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            done.set_exception(error)
        else:  # an exit of the thread isn't one of the program
            done.set_exception(RuntimeError(f"it raised {type(error).__name__}"))

    def run() -> None:
        value, error = None, None
        try:
            value = context.run(work)
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell, value, error)

    threading.Thread(target=run, name="keen-tui function", daemon=True).start()
    return await done
