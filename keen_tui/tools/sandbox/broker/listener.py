"""System calls of a command that wait for a broker's answer (seccomp_unotify(2))."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from typing import Final

from msgspec import Struct

from keen_tui.tools.sandbox.broker.kernel import call, checked

_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER: Final = 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5

_RECEIVE, _SEND, _IS_VALID = 0xC050_2100, 0xC018_2101, 0x4008_2102
_ADD_DESCRIPTOR, _SET_FLAGS = 0x4018_2103, 0x4008_2104
_SYNCHRONOUS: Final = 1
_CONTINUE: Final = 1

_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
_RESPONSE: Final = struct.Struct("=QqiI")
_DESCRIPTOR: Final = struct.Struct("=QIIII")
_NOTHING: Final = bytes(_NOTIFICATION.size)


class Notification(Struct, frozen=True):
    """A waiting call: `id` is its number in the kernel, `pid` the calling thread."""

    id: int
    pid: int
    number: int
    arguments: tuple[int, ...]


class Listener:
    """The end where the calls arrive. Once it is closed, waiting calls and all later ones fail with
    ENOSYS."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        try:
            flags = struct.pack("=Q", _SYNCHRONOUS)  # the command and its broker take turns
            fcntl.ioctl(descriptor, _SET_FLAGS, flags)
        except OSError:
            pass  # Linux before 6.6

    def close(self) -> None:
        os.close(self.descriptor)

    def receive(self) -> Notification:
        """The next call. Raises FileNotFoundError if the calling thread has ended meanwhile."""
        received = fcntl.ioctl(self.descriptor, _RECEIVE, _NOTHING)
        number, pid, _, call_number, _, _, *arguments = _NOTIFICATION.unpack(received)
        return Notification(number, pid, call_number, tuple(arguments))

    def check(self, number: int) -> None:
        """Raises FileNotFoundError if the call doesn't wait any more: then its `pid` may belong to another
        thread."""
        fcntl.ioctl(self.descriptor, _IS_VALID, struct.pack("=Q", number))

    def proceed(self, number: int) -> None:
        """Let the kernel do the call. It reads the command's memory again."""
        self._send(number, 0, 0, _CONTINUE)

    def answer(self, number: int, value: int = 0, error: int = 0) -> None:
        """Answer with the result of the call, or with the number of its error."""
        self._send(number, value, -error, 0)

    def hand_over(self, number: int, descriptor: int, *, close_on_exec: bool) -> None:
        """Give the command a copy of the descriptor, close ours, and answer with the number of the copy.

        In this order: a file that we still held for writing could not be run.
        """
        flags = os.O_CLOEXEC if close_on_exec else 0
        try:
            # Only for a mutable buffer does Python give what the call returns.
            packed = bytearray(_DESCRIPTOR.pack(number, 0, descriptor, 0, flags))
            copy = fcntl.ioctl(self.descriptor, _ADD_DESCRIPTOR, packed)
        finally:
            os.close(descriptor)
        self.answer(number, copy)

    def _send(self, number: int, value: int, error: int, flags: int) -> None:
        fcntl.ioctl(self.descriptor, _SEND, _RESPONSE.pack(number, value, error, flags))


def listen(machine: str, filter_program: bytes) -> int:
    """Bind the calling thread to a filter that notifies. Returns the descriptor where the calls arrive.

    A signal that the command survives doesn't interrupt a call in progress: otherwise the call would be made
    twice.

    Raises:
        OSError: the kernel can't do this, or another listener exists.
    """
    program = ctypes.create_string_buffer(filter_program, len(filter_program))
    instructions = struct.pack("@HP", len(filter_program) // 8, ctypes.addressof(program))
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        descriptor = call(_SECCOMP[machine], _SET_MODE_FILTER, flags, instructions)
        if descriptor >= 0 or ctypes.get_errno() != errno.EINVAL:
            break  # EINVAL: Linux before 5.19 doesn't know all of the flags
    return checked(descriptor)
