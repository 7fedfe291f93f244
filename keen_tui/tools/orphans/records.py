"""Records of running commands, so that a start finds those whose program and watcher were both killed.

Each running command has a small file. If its program has ended, the command was left behind, with or without
processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from keen_tui.system.folders import make_private
from keen_tui.tools.orphans.strays import can_find_strays, end_group, end_strays, living, start_of

FOLDER: Final = "running"
"""Name of the folder in the data folder."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class CommandRecord(Struct, frozen=True, kw_only=True):
    """A running command. `leader` is its first process, which leads its group; `start` and `program_start`
    distinguish the processes from later ones with the same numbers, `boot` from those before the last
    boot."""

    boot: str
    program: int
    program_start: str
    leader: int
    start: str
    mark: Annotated[str, Meta(pattern="^[0-9a-f]+$")]
    command: str

    def write(self, folder: Path) -> Path:
        """Write the record and return its file. It isn't synced, because no process outlives a crash of the
        system. Raises OSError."""
        make_private(folder)
        file = folder / f"{self.mark}.json"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(file, flags, 0o600), "wb") as opened:
            opened.write(msgspec.json.encode(self))
        return file


class LeftRunning(Struct, frozen=True):
    """A command of a killed program, and its processes."""

    command: str
    pids: tuple[int, ...]
    record: CommandRecord
    file: Path

    def end(self) -> None:
        """Kill all its processes."""
        if can_find_strays():
            end_strays(self.record.leader, self.record.mark, self.record.start)
        else:
            end_group(self.record.leader)
        self.forget()

    def forget(self) -> None:
        """Keep it running, and don't find it again."""
        with suppress(OSError):
            self.file.unlink()


def left_running(folder: Path) -> tuple[LeftRunning, ...]:
    """The commands that other programs left running. Removes records of commands that have ended. MUST NOT
    raise."""
    found = [(record, file, _pids(record)) for record, file in _records(folder) if not _has_program(record)]
    for _, file, pids in found:
        if not pids:
            with suppress(OSError):
                file.unlink()
    return tuple(LeftRunning(record.command, pids, record, file) for record, file, pids in found if pids)


def boot_id() -> str:
    """A text that changes with each boot; "" if it is unknown."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _records(folder: Path) -> Iterator[tuple[CommandRecord, Path]]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - at every start
    except OSError:
        return
    for file in (folder / name for name in names if name.endswith(".json")):
        with suppress(OSError, msgspec.MsgspecError):
            if file.is_file() and not file.is_symlink():
                yield msgspec.json.decode(file.read_bytes(), type=CommandRecord), file


def _has_program(record: CommandRecord) -> bool:
    return (
        record.boot == boot_id() and bool(record.start) and start_of(record.program) == record.program_start
    )


def _pids(record: CommandRecord) -> tuple[int, ...]:
    if record.boot != boot_id() or not record.start:
        return ()
    if can_find_strays():
        return tuple(sorted(living(record.leader, record.mark, record.start)))
    return (record.leader,) if start_of(record.leader) == record.start else ()
