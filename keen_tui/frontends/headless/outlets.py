"""Writes to standard output, which must not fail silently, and to standard error, which may."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from contextlib import suppress
from typing import TextIO

from keen_tui.domain.errors import OutputFailed
from keen_tui.text.sanitize import clean, defused


def require_writable(out: TextIO) -> None:
    """Check the output before anything is written.

    Raises:
        OutputFailed: its reader has gone, or its disk is full.
    """
    try:
        descriptor = out.fileno()
    except (OSError, ValueError):  # it has no descriptor, as in a test
        return
    try:
        os.write(descriptor, b"")  # /dev/full refuses even this; so does a descriptor that can only be read
        if is_abandoned(descriptor):
            raise OSError(errno.EPIPE, os.strerror(errno.EPIPE))
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and not os.fstatvfs(descriptor).f_bfree:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        raise unwritable(out, error) from error


def is_abandoned(descriptor: int) -> bool:
    """Whether the descriptor is a pipe that nobody reads any more."""
    look = select.poll()
    look.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in look.poll(0))


def write_line(text: str, out: TextIO) -> None:
    """Write a line; characters that the encoding of the output doesn't have become question marks.

    Raises:
        OutputFailed: it can't be written.
    """
    encoding = out.encoding or "utf-8"
    try:
        out.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        out.flush()
    except OSError as error:
        raise unwritable(out, error) from error


def note(line: str, err: TextIO | None) -> None:
    """Write a line for a person. A failure is ignored, and ends all further output there."""
    if err is None:
        return
    try:
        err.write(f"{defused(clean(line))}\n")
        err.flush()
    except (OSError, ValueError):
        _drop(err)


def failure_of(out: TextIO) -> OutputFailed | None:
    """The failure of the output, None if there is none. Writes the buffer first."""
    try:
        out.flush()
        require_writable(out)
    except OSError as error:
        return unwritable(out, error)
    except OutputFailed as failure:
        return failure
    return None


def unwritable(out: TextIO, error: OSError) -> OutputFailed:
    """The exception to raise for an output that can't be written. The buffer is dropped: it would fail once
    more when the program ends."""
    _drop(out)
    if isinstance(error, BrokenPipeError) or error.errno == errno.EPIPE:
        return OutputFailed("Standard output was closed.")
    return OutputFailed(f"Standard output can't be written: {error.strerror}.")


def _drop(stream: TextIO) -> None:
    """Redirect the stream to /dev/null."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, stream.fileno(), inheritable=stream in (sys.stdout, sys.stderr))
        os.close(nowhere)
