"""Stores files that were set aside in Keen's data folder, with a record of where they came from."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from keen_tui.system.atomic_write import put_file
from keen_tui.system.folders import make_private
from keen_tui.system.safe_read import content_of
from keen_tui.system.trees import remove_tree
from keen_tui.text.sanitize import clean
from keen_tui.tools.quarantine.move_entry import move

log = logging.getLogger(__name__)

_RECORD: Final = "record.json"
_LARGEST_RECORD: Final = 10_000_000
_MOST_NAMED: Final = 20
"""The most names in one list."""


class KeptEntry(Struct, frozen=True, kw_only=True):
    """One file or folder: its name from the workspace, its old absolute path, and its place now."""

    name: str
    path: str
    content: str


class Kept(Struct, frozen=True, kw_only=True):
    """The files of one command that were set aside.

    `at` is in seconds since the epoch. `open` until a person has decided.
    """

    workspace: str
    command: str
    at: float
    entries: tuple[KeptEntry, ...]
    folder: str = ""
    open: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    @property
    def listed(self) -> str:
        """The names for the person and the model."""
        return listed(self.names)


def listed(names: Sequence[str]) -> str:
    """Names of files in one line; if there are many, the first ones."""
    more = len(names) - _MOST_NAMED
    return ", ".join((*map(clean, names[:_MOST_NAMED]), *((f"{more} more",) if more > 0 else ())))


class Quarantine:
    """The files that were set aside from one workspace, in a folder that all workspaces share. All methods
    block."""

    def __init__(self, root: Path, workspace: Path) -> None:
        self._root = root
        self._workspace = workspace

    def take(self, paths: Sequence[Path], command: str) -> tuple[Kept, dict[Path, OSError]]:
        """Move these entries out of the workspace. Returns what was moved, and what couldn't be, with the
        reason.

        An entry that can't be moved to the data folder is renamed in its place, so that its name runs
        nothing. The record is written before anything is moved.
        """
        kept = Kept(
            workspace=str(self._workspace),
            command=command,
            at=time.time(),
            entries=tuple(
                KeptEntry(
                    name=path.relative_to(self._workspace).as_posix(), path=str(path), content=str(number)
                )
                for number, path in enumerate(paths)
            ),
        )
        problems: dict[Path, OSError] = {}
        moved = []
        folder = self._begin(kept)
        for path, entry in zip(paths, kept.entries, strict=True):
            for to in (*((folder / entry.content,) if folder else ()), _aside(path)):
                try:
                    move(path, to)
                except OSError as error:
                    problems[path] = error
                else:
                    problems.pop(path, None)
                    moved.append(replace(entry, content=str(to)))
                    break
        return replace(kept, entries=tuple(moved), folder=str(folder or "")), problems

    def put_back(self, kept: Kept) -> dict[str, OSError]:
        """Move the files back. Returns the names for which that failed; they stay set aside."""
        problems = {}
        for entry in kept.entries:
            try:
                move(Path(entry.content), Path(entry.path))
            except OSError as error:
                problems[entry.name] = error
        if kept.folder and not problems:
            remove_tree(Path(kept.folder))
        return problems

    def settle(self, kept: Kept) -> None:
        """Note that a person knows, so the next start needn't mention it."""
        if kept.folder:
            with suppress(OSError):
                _write(Path(kept.folder), replace(kept, open=False))

    def undecided(self) -> tuple[Kept, ...]:
        """Files about which nobody has decided, and that weren't reported before."""
        found = tuple(kept for kept in self.all() if kept.open)
        for kept in found:
            self.settle(kept)
        return found

    def all(self) -> tuple[Kept, ...]:
        """All files set aside from this workspace, oldest first."""
        return tuple(sorted(self._found(), key=lambda kept: kept.at))

    def _found(self) -> Iterator[Kept]:
        root = Path(os.path.realpath(self._root))
        try:
            folders = [folder for folder in root.iterdir() if folder.is_dir()]
        except OSError:
            return
        for folder in folders:
            kept = _read(folder)
            if kept and kept.workspace == str(self._workspace):
                placed = (replace(each, content=str(folder / each.content)) for each in kept.entries)
                there = tuple(each for each in placed if os.path.lexists(each.content))
                if there:
                    yield replace(kept, folder=str(folder), entries=there)

    def _begin(self, kept: Kept) -> Path | None:
        """A new folder with its record; None if it can't be created."""
        try:
            make_private(self._root)
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(kept.at))
            folder = Path(os.path.realpath(self._root), f"{stamp}-{secrets.token_hex(4)}")
            folder.mkdir(mode=0o700)
            _write(folder, kept)
        except OSError as error:
            log.warning("nothing can be set aside in %s: %s", self._root, error)
            return None
        return folder


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.kept-back-{secrets.token_hex(4)}")


def _write(folder: Path, kept: Kept) -> None:
    """Write the record. Places in it are relative to its folder."""
    entries = tuple(replace(entry, content=Path(entry.content).name) for entry in kept.entries)
    content = msgspec.json.format(msgspec.json.encode(replace(kept, folder="", entries=entries)))
    file = folder / _RECORD
    put_file(file, content, content_of(file, most=_LARGEST_RECORD), mode=0o600)


def _read(folder: Path) -> Kept | None:
    try:
        content = content_of(folder / _RECORD, most=_LARGEST_RECORD)
        return msgspec.json.decode(content, type=Kept) if content else None
    except (OSError, msgspec.DecodeError):
        return None
