"""The files of one call that would run code later, and what happens to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from keen_tui.domain.display import DiffDisplay
from keen_tui.text.redaction import taken_out
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.access.sensitive import EntryKind, holds_secrets
from keen_tui.tools.quarantine.diff_of_files import shown
from keen_tui.tools.quarantine.new_entries import Before, NewEntry, NewEntryFinder, SearchScope
from keen_tui.tools.quarantine.store import Kept, Quarantine, listed

_MOST_ASKED = 3
"""The most names in a question; the diff below has all of them."""


KnownOf = Callable[[Sequence[Path]], Collection[Path]]
"""Tells which of these new entries needn't be set aside. Blocks."""


class NewFiles:
    """The new files of one call. Nothing happens until `scope` says what to look for.

    `keys` returns the API keys to remove from the display. It may read files.
    """

    def __init__(
        self, look: NewEntryFinder, quarantine: Quarantine, command: str, keys: Callable[[], Iterable[str]]
    ) -> None:
        self.scope: SearchScope = "nothing"
        self.agreed: tuple[str, ...] = ()
        """The paths of those that were put back."""
        self._look = look
        self._quarantine = quarantine
        self._command = command
        self._keys = keys
        self._entries: list[NewEntry] = []
        self._kept: list[Kept] = []
        self._problems: dict[str, str] = {}
        self._before: Before | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Note the files that are there now: they aren't new. Blocks."""
        with self._lock:
            if self.scope != "nothing":
                self._before = self._look.before(self.scope)

    def accept(self, paths: Collection[str]) -> None:
        """Note that these paths aren't new either: somebody else created them, after a yes. Blocks."""
        with self._lock:
            if self._before is not None:
                self._before = self._look.accepted(self._before, paths)

    def check(self, known: KnownOf = lambda _: ()) -> None:
        """Keep back what is new since `begin`, except the entries that `known` returns. Blocks."""
        with self._lock:
            if self.scope != "nothing" and self._before is not None:
                entries = self._look.new(self._before, self.scope)
                if entries and (found := set(known([entry.path for entry in entries]))):
                    self._before = self._look.accepted(self._before, list(map(str, found)))
                    entries = tuple(entry for entry in entries if entry.path not in found)
                self._set_aside(entries)

    def _set_aside(self, entries: tuple[NewEntry, ...]) -> None:
        if not entries:
            return
        kept, problems = self._quarantine.take([entry.path for entry in entries], self._command)
        self._entries += entries
        self._kept += [kept] if kept.entries else []
        self._problems |= {path.name: error.strerror or str(error) for path, error in problems.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entries that were set aside, from the workspace."""
        return tuple(name for kept in self._kept for name in kept.names)

    @property
    def places(self) -> tuple[str, ...]:
        """Where they are: a folder, or the files themselves if they couldn't be moved there."""
        return tuple(
            dict.fromkeys(str(Path(entry.content).parent) for kept in self._kept for entry in kept.entries)
        )

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that git would run because of the repositories among them."""
        return tuple(dict.fromkeys(name for entry in self._entries for name in entry.programs))

    @property
    def only_builds(self) -> bool:
        """Whether all of them would run only when somebody builds or tests."""
        return all(entry.kind == EntryKind.BUILDS for entry in self._entries)

    @property
    def holds_secrets(self) -> bool:
        """Whether a name says that it may hold keys or passwords."""
        return any(map(holds_secrets, self.names))

    @property
    def in_short(self) -> str:
        """The names, or their number if there are many."""
        if len(self.names) > _MOST_ASKED:
            return counted(len(self.names), "new file")
        *some, last = map(clean, self.names)
        return f"{', '.join(some)} and {last}" if some else last

    @property
    def listed(self) -> str:
        """The names, shortened if there are many."""
        return listed(self.names)

    @property
    def problem(self) -> str:
        """The entries that couldn't be set aside, as a sentence; "" for none."""
        some = ", ".join(f"{clean(name)} ({why})" for name, why in self._problems.items())
        return f"These files could not be moved away and may run code: {some}." if some else ""

    def display(self) -> DiffDisplay:
        """All files as a diff; for a repository its settings and hooks. Blocks."""
        repositories = (entry.path.parent for entry in self._entries if entry.programs)
        beside = [
            file
            for repository in repositories
            for file in (
                repository / "config",
                repository / "commondir",
                *(repository / name for name in self.programs if name.startswith("hooks/")),
            )
        ]
        return taken_out(self._keys(), shown(self._kept, beside))

    def put_back(self) -> str:
        """Move everything back. Returns a sentence about what couldn't be moved, "" for nothing. Blocks."""
        self.agreed = tuple(str(entry.path) for entry in self._entries)
        problems = {
            name: error.strerror or str(error)
            for kept in self._kept
            for name, error in self._quarantine.put_back(kept).items()
        }
        some = ", ".join(f"{clean(name)} ({why})" for name, why in problems.items())
        return f"could not be put back, and stays in {' and '.join(self.places)}: {some}" if some else ""

    def settle(self) -> None:
        """Note that a person has decided, so the next start needn't mention it. Blocks."""
        for kept in self._kept:
            self._quarantine.settle(kept)
