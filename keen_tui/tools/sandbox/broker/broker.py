"""A thread that does for one command what Landlock can't allow: new entries in the workspace's own folder.

Landlock has no exceptions inside a grant. So a command gets rights to the folders in the workspace, but not
to the workspace itself. Calls that need more wait in the kernel until the broker has checked them. If nothing
is protected there, the broker does them itself, with its own descriptors. All others continue in the kernel,
still confined by Landlock. So lying, or changing memory after the check, gains nothing: Landlock decides
about everything that the broker hasn't done itself.
"""

from __future__ import annotations

import errno
import logging
import os
import select
import threading
from contextlib import suppress
from typing import Final

from msgspec import Struct

from keen_tui.tools.sandbox.broker.file_calls import AT_FDCWD, CallArguments, names, newest, number_of
from keen_tui.tools.sandbox.broker.file_operations import DEEDS, Opened
from keen_tui.tools.sandbox.broker.kernel import drop_capabilities_of_thread, has_own_umask
from keen_tui.tools.sandbox.broker.listener import Listener, Notification
from keen_tui.tools.sandbox.broker.workspace_paths import ClosedPaths, Ground, Inode, NotOurs

_log = logging.getLogger(__name__)

_PATIENCE: Final = 5.0
"""Seconds that the end of a command waits for its broker; a slow disk may delay it."""

_LONGEST_PATH: Final = 4_096
_STATUS_SIZE: Final = 256
"""Bytes of /proc/PID/status that are read; the umask is in its second line."""


class Broker:
    """The broker of one command. Create it in a thread that isn't confined, because its own thread must not
    be.

    When its thread ends for any reason, the listener is closed. Then open calls fail, instead of waiting.
    """

    def __init__(self, closed: ClosedPaths, machine: str) -> None:
        """Raises OSError if the workspace doesn't exist, or too many descriptors are open."""
        self._ground = Ground(closed)
        self._names = names(machine)
        self._renameat2 = number_of(machine, "renameat2")
        self._listener: Listener | None = None
        self._is_ready = threading.Event()
        self._stop = os.eventfd(0, os.EFD_CLOEXEC)
        self._has_own_umask = False
        self._thread = threading.Thread(target=self._run, name="broker of a command", daemon=True)
        self._thread.start()

    def grant(self, folder: Inode) -> None:
        """Note that the command works in this folder without the broker."""
        self._ground.granted.add(folder)

    def listen(self, descriptor: int) -> None:
        """Begin to answer the calls that arrive at the descriptor. Call it once; the broker closes the
        descriptor."""
        self._listener = Listener(descriptor)
        self._is_ready.set()

    def close(self) -> None:
        """End the broker, because the command has ended."""
        os.eventfd_write(self._stop, 1)
        self._is_ready.set()
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            os.close(self._stop)

    def _run(self) -> None:
        try:
            drop_capabilities_of_thread()
            self._has_own_umask = has_own_umask()
            self._is_ready.wait()
            if self._listener:
                self._serve(self._listener)
        except Exception:
            _log.exception("the broker of a command failed")
        finally:
            self._is_ready.wait()
            if self._listener:
                self._listener.close()
            self._ground.close()

    def _serve(self, listener: Listener) -> None:
        waiting = select.poll()
        waiting.register(listener.descriptor, select.POLLIN)
        waiting.register(self._stop, select.POLLIN)
        while True:
            events = dict(waiting.poll())
            if self._stop in events or not events[listener.descriptor] & select.POLLIN:
                return  # the command has ended, or has no process left that could call
            with suppress(FileNotFoundError):  # the caller has been killed
                self._answer(listener, listener.receive())

    def _answer(self, listener: Listener, asking: Notification) -> None:
        """Answer a call. Never leaves one without an answer."""
        name, arguments = newest(self._names[asking.number], asking.arguments)
        asked = _Asked(self._ground, self._renameat2, listener, asking, arguments, self._has_own_umask)
        try:
            done = DEEDS[name](asked)
            if isinstance(done, Opened):
                listener.hand_over(asking.id, done.descriptor, close_on_exec=done.close_on_exec)
            else:
                listener.answer(asking.id, done)
        except NotOurs:
            listener.proceed(asking.id)
        except OSError as error:
            listener.answer(asking.id, error=error.errno or errno.EACCES)
        except Exception:
            _log.exception("the broker of a command failed at %s", name)
            listener.answer(asking.id, error=errno.EACCES)


class _Asked(Struct):
    """A call that waits (`deeds.Asked`)."""

    ground: Ground
    renameat2: int
    _listener: Listener
    _asking: Notification
    _arguments: CallArguments
    _has_own_umask: bool

    def number(self, place: int) -> int:
        return self._arguments[place] & 0xFFFF_FFFF

    def size(self, place: int) -> int:
        return self._arguments[place]

    def text(self, place: int) -> str:
        try:
            memory = os.open(f"/proc/{self._asking.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
            try:
                read = os.pread(memory, _LONGEST_PATH, self._arguments[place])
            finally:
                os.close(memory)
        except (OSError, OverflowError) as error:
            raise NotOurs from error
        text, end, _ = read.partition(b"\0")
        if not (text and end):
            raise NotOurs
        return os.fsdecode(text)

    def path(self, folder: int | None, place: int) -> str:
        text = self.text(place)
        if text.startswith("/"):
            return text
        start = -1 if folder is None else self.number(folder)
        link = "cwd" if start in (-1, AT_FDCWD & 0xFFFF_FFFF) else f"fd/{start}"
        try:
            base = os.readlink(f"/proc/{self._asking.pid}/{link}")  # noqa: PTH115 - at every call
        except OSError as error:
            raise NotOurs from error
        if not base.startswith("/"):
            raise NotOurs
        return f"{base}/{text}"

    def unmasked(self, mode: int) -> int:
        umask = self._umask()
        if not self._has_own_umask:
            return mode & ~umask
        os.umask(umask)
        return mode

    def _umask(self) -> int:
        try:
            status = os.open(f"/proc/{self._asking.pid}/status", os.O_RDONLY | os.O_CLOEXEC)
            try:
                read = os.read(status, _STATUS_SIZE)
            finally:
                os.close(status)
            return int(read.partition(b"\nUmask:")[2].split(maxsplit=1)[0], 8)
        except (OSError, ValueError, IndexError) as error:
            raise NotOurs from error

    def make_sure(self) -> None:
        try:
            self._listener.check(self._asking.id)
        except OSError as error:
            raise NotOurs from error
