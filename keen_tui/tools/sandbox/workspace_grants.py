"""The grants of Landlock for a command in its workspace; everything else is for the command's broker."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.tools.sandbox.broker.workspace_paths import ClosedPaths
from keen_tui.tools.sandbox.landlock_rules import READ, READ_DIR, WORK, PathGrant
from keen_tui.tools.sandbox.policy import Policy

MOST_ENTRIES: Final = 100
"""The most folders, or files, that are granted in one folder: each costs time for each command. The others
are for the broker."""


class WorkspaceGrants:
    """The grants for one command: it must not read `hidden` paths, nor change `closed` ones."""

    def __init__(self, policy: Policy, secrets: Collection[Path], listings: Listings) -> None:
        inside = (path for path in policy.hidden if path.is_relative_to(policy.workspace))
        self.hidden = frozenset((*inside, *secrets))
        closed = (*policy.protected, *policy.protected_if_there, *self.hidden)
        self.closed = ClosedPaths(policy.workspace, closed)
        self._workspace = policy.workspace
        self._listings = listings

    def reading(self) -> Iterator[PathGrant]:
        """The grants for a command without a broker, which may only read."""
        return readable(self._workspace, self.hidden)

    def work(self) -> Iterator[PathGrant]:
        """The grants for a command with a broker."""
        yield from self._read_in(self._workspace)
        yield from self._worked_in(self._workspace)

    def _read_in(self, folder: Path) -> Iterator[PathGrant]:
        """Everything in a folder; if something in it is hidden, the entries that are neither hidden nor
        `_worked_in`.

        Other entries, such as new files, are opened by the broker, but can't be run.
        """
        if not any(folder in hidden.parents for hidden in self.hidden):
            yield folder, READ
            return
        yield folder, READ_DIR
        listing = self._listings.of(folder)
        for path in listing.files:
            if path not in self.hidden:
                yield path, READ
        closed = (path for path in self.closed.paths if path.parent == folder)
        for path in dict.fromkeys((*listing.folders, *closed)):
            if path not in self.hidden and not self._is_worked_in(path):
                yield from self._read_in(path)

    def _worked_in(self, folder: Path) -> Iterator[PathGrant]:
        """The folders without closed entries, here and in folders that have some."""
        for path in self._listings.of(folder).folders:
            if self._is_worked_in(path):
                yield path, WORK
            elif not self.closed.has(path):
                yield from self._worked_in(path)

    def _is_worked_in(self, path: Path) -> bool:
        return not self.closed.has(path) and not self.closed.holds(path)


class Listing(Struct, frozen=True):
    """Folders and other files in a folder, without links. If there are very many, only some of them."""

    changed: int
    folders: tuple[Path, ...]
    files: tuple[Path, ...]


class Listings:
    """The content of folders, listed again when something was created or removed there.

    An outdated list does no harm: it only gives names, and rights depend on the name.
    """

    def __init__(self) -> None:
        self._listed: dict[Path, Listing] = {}

    def of(self, folder: Path) -> Listing:
        """Raises OSError."""
        changed = folder.stat().st_mtime_ns
        listing = self._listed.get(folder)
        if not listing or listing.changed != changed:
            listing = self._listed[folder] = _listed(folder, changed)
        return listing


def _listed(folder: Path, changed: int) -> Listing:
    folders, files = list[str](), list[str]()
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_symlink():
                found = folders if entry.is_dir(follow_symlinks=False) else files
                if len(found) < MOST_ENTRIES:
                    found.append(entry.path)
    return Listing(changed, tuple(map(Path, folders)), tuple(map(Path, files)))


def readable(path: Path, hidden: frozenset[Path]) -> Iterator[PathGrant]:
    """Grants to read a path, except its hidden content, of which only the names are visible."""
    inside = frozenset(each for each in hidden if path in each.parents and os.access(each, os.R_OK))
    if path in hidden:
        return
    if not inside:
        yield path, READ
        return
    yield path, READ_DIR
    for entry in path.iterdir():
        yield from readable(entry, inside)
