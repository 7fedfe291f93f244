"""Finds processes of this machine by their command lines: their numbers are different inside a sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def called_with(words: str) -> list[int]:
    """The processes whose command line contains these words, with one space between them."""
    return [int(each.name) for each in _PROC.glob("[0-9]*") if words in _command_line(each)]


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def left_alone(words: str) -> list[int]:
    """The processes whose command line is these words, and whose parent's isn't, because the real parent has
    ended."""
    called = called_with(words)
    bare = [each for each in called if _command_line(_PROC / str(each)).rstrip() == words]
    return [each for each in bare if _parent(each) not in called]


def _parent(process: int) -> int:
    """The number of a process's parent, 0 if the process has ended."""
    try:
        stat = (_PROC / str(process) / "stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def processes_in(folder: Path) -> Iterator[str]:
    """The command lines of the processes that work in the folder, or in one that was there."""
    for process in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                yield _command_line(process)
