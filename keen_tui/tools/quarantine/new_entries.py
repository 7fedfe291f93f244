"""Looks at the workspace before and after a command, and finds new names that would run code later."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.system.named_entries import NamedEntries
from keen_tui.tools.access.sensitive import EntryKind, entry_kinds
from keen_tui.tools.quarantine.repositories import Program, leads_to_one, programs_of, repository_at
from keen_tui.tools.sandbox.policy import ALWAYS_PROTECTED, PROTECTED_IF_THERE

SearchScope = Literal["nothing", "repositories", "acting", "everything"]
"""The scope of a search for new files: repositories that would run programs; also files that act as soon as
somebody opens the folder; also files that run in builds."""

_Identity = tuple[int, ...]
"""Identifies a file while only folders above its own are renamed."""

_PROTECTED: Final = frozenset((*ALWAYS_PROTECTED, *PROTECTED_IF_THERE))


class NewEntry(Struct, frozen=True, kw_only=True):
    """A new entry, or one that makes a folder a repository: its path, and when it would run code.

    For a repository, `programs` names what git would run.
    """

    path: Path
    kind: EntryKind
    programs: tuple[str, ...] = ()


class Before(Struct, frozen=True, kw_only=True):
    """The workspace before a command: its entries with their kinds, the identities of those that act, and the
    programs that git would run in its repositories."""

    entries: Mapping[str, int]
    identities: Collection[_Identity]
    programs: Collection[Program]


class NewEntryFinder:
    """Finds new entries in one workspace. All methods block.

    Files that run in builds count only in folders that existed at the first look: builds create folders with
    such files.
    """

    def __init__(self, workspace: Path, entries: NamedEntries) -> None:
        self._workspace = workspace
        self._entries = entries
        self._old_folders: frozenset[str] | None = None

    def before(self, scope: SearchScope) -> Before:
        """The workspace as the sandbox has just read it."""
        if self._old_folders is None:
            self._old_folders = self._entries.folders()
        found = self._entries.last_seen()
        acting = (path for path, kinds in found.items() if kinds & EntryKind.ACTS)
        return Before(
            entries=found,
            identities=() if scope == "repositories" else frozenset(filter(None, map(_identity, acting))),
            programs=frozenset(program for _, programs in self._repositories(found) for program in programs),
        )

    def accepted(self, before: Before, paths: Collection[str]) -> Before:
        """The same, as if the entries at these paths and the folders around them had been there."""
        around = {str(folder) for path in paths for folder in (Path(path), *Path(path).parents)}
        now = self._entries.look()
        return replace(
            before, entries={**before.entries, **{each: now[each] for each in around & now.keys()}}
        )

    def new(self, before: Before, scope: SearchScope) -> tuple[NewEntry, ...]:
        """The new entries."""
        now = self._entries.look()
        found = list(self._new_programs(now, before))
        if scope != "repositories":
            new = self._new_entries(now, before)
            found += (each for each in new if scope == "everything" or each.kind == EntryKind.ACTS)
        return tuple(_outermost(found))

    def _new_programs(self, now: Mapping[str, int], before: Before) -> Iterator[NewEntry]:
        for repository, programs in self._repositories(now):
            is_new_file = leads_to_one(repository) and str(repository) not in before.entries
            if (new := programs.difference(before.programs)) and not is_new_file:
                names = tuple(sorted({program.name for program in new}))
                path = repository if leads_to_one(repository) else repository / "HEAD"
                yield NewEntry(path=path, kind=EntryKind.REPOSITORY, programs=names)

    def _repositories(self, entries: Mapping[str, int]) -> Iterator[tuple[Path, frozenset[Program]]]:
        """The repositories in the workspace and the `.git` files that lead to one, except its own, which
        commands can't write."""
        marked = (
            Path(path)
            for path, kinds in entries.items()
            if kinds & EntryKind.REPOSITORY or (kinds & EntryKind.ACTS and path.endswith("/.git"))
        )
        for repository in dict.fromkeys(map(repository_at, marked)):
            if repository.parent != self._workspace or repository.name not in ALWAYS_PROTECTED:
                yield repository, programs_of(repository)

    def _new_entries(self, now: Mapping[str, int], before: Before) -> Iterator[NewEntry]:
        moved: set[str] = set()
        for path in sorted(
            path for path, kinds in now.items() if kinds & _RUNS and path not in before.entries
        ):
            kinds = EntryKind(now[path])
            entry = Path(path)
            if self._is_protected(entry, before) or _is_empty_folder(entry):
                continue
            if kinds & EntryKind.ACTS:
                if _identity(path) in before.identities and (
                    _by_its_own_name(entry) or _is_below(path, moved)
                ):
                    moved.add(path)
                else:
                    yield NewEntry(path=entry, kind=EntryKind.ACTS)
            elif self._old_folders is None or str(entry.parent) in self._old_folders:
                yield NewEntry(path=entry, kind=EntryKind.BUILDS)

    def _is_protected(self, path: Path, before: Before) -> bool:
        """Whether commands can't write there, so that somebody else made any new entry."""
        top = self._workspace / path.relative_to(self._workspace).parts[0]
        return top.name == ".git" or (top.name in _PROTECTED and str(top) in before.entries)


_RUNS: Final = EntryKind.ACTS | EntryKind.BUILDS


def _identity(path: str) -> _Identity:
    try:
        own, around = os.lstat(path), os.lstat(path.rpartition("/")[0])
    except OSError:
        return ()
    return (own.st_dev, own.st_ino, own.st_ctime_ns, around.st_ino)


def _by_its_own_name(path: Path) -> bool:
    """Whether an entry acts in any folder. A counterexample is `workflows`, which acts only in `.github`."""
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    return bool(entry_kinds("")(path.name, is_folder) & EntryKind.ACTS)


def _is_empty_folder(path: Path) -> bool:
    try:
        with os.scandir(path) as entries:
            return not path.is_symlink() and next(entries, None) is None
    except OSError:
        return False


def _is_below(path: str, folders: Collection[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _outermost(found: Iterable[NewEntry]) -> Iterator[NewEntry]:
    """The entries that aren't inside others, sorted by path."""
    ordered = sorted(found, key=lambda each: each.path)
    paths = {each.path for each in ordered}
    return (each for each in ordered if paths.isdisjoint(each.path.parents))
