"""What one call made that would run code later, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keen_tui.domain.display import DiffDisplay
from keen_tui.text.redaction import taken_out
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.permissions.sensitive import EntryKind, holds_secrets
from keen_tui.tools.quarantine.look import NewEntry, NewEntryFinder, SearchScope
from keen_tui.tools.quarantine.shown import shown
from keen_tui.tools.quarantine.store import Kept, Quarantine, listed

_MOST_ASKED = 3
"""Names that a question says; the diff below has all of them."""


class NewFiles:
    """Those of one call. Nothing is looked for until `scope` says what.

    `keys` gives the API keys that are taken out of what is shown. It may read files.
    """

    def __init__(
        self, look: NewEntryFinder, quarantine: Quarantine, command: str, keys: Callable[[], Iterable[str]]
    ) -> None:
        self.scope: SearchScope = "nothing"
        self._look = look
        self._quarantine = quarantine
        self._command = command
        self._keys = keys
        self._entries: list[NewEntry] = []
        self._kept: list[Kept] = []
        self._problems: dict[str, str] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A command runs inside, right after the sandbox has looked at the workspace; when it has ended, what
        it made is kept back. Blocks."""
        if self.scope == "nothing":
            yield
            return
        before = self._look.before(self.scope)
        try:
            yield
        finally:
            self._keep_back(self._look.new(before, self.scope))

    def _keep_back(self, entries: tuple[NewEntry, ...]) -> None:
        if not entries:
            return
        kept, problems = self._quarantine.take([entry.path for entry in entries], self._command)
        self._entries += entries
        self._kept += [kept] if kept.entries else []
        self._problems |= {path.name: error.strerror or str(error) for path, error in problems.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """What was kept back, by its names from the workspace."""
        return tuple(name for kept in self._kept for name in kept.names)

    @property
    def places(self) -> tuple[str, ...]:
        """Where it lies: a folder, or the files themselves where they could not be moved there."""
        return tuple(
            dict.fromkeys(str(Path(entry.content).parent) for kept in self._kept for entry in kept.entries)
        )

    @property
    def programs(self) -> tuple[str, ...]:
        """What git would run because of the repositories among it."""
        return tuple(dict.fromkeys(name for entry in self._entries for name in entry.programs))

    @property
    def only_builds(self) -> bool:
        """Whether all of it would run only when somebody builds or tests."""
        return all(entry.kind == EntryKind.BUILDS for entry in self._entries)

    @property
    def holds_secrets(self) -> bool:
        """Whether a name says that it may hold keys or passwords."""
        return any(map(holds_secrets, self.names))

    @property
    def in_short(self) -> str:
        """The names, or of many their number."""
        if len(self.names) > _MOST_ASKED:
            return counted(len(self.names), "new file")
        *some, last = map(clean, self.names)
        return f"{', '.join(some)} and {last}" if some else last

    @property
    def listed(self) -> str:
        """The names, as far as they are told."""
        return listed(self.names)

    @property
    def problem(self) -> str:
        """What could not be kept back, as a sentence; "" for nothing."""
        some = ", ".join(f"{clean(name)} ({why})" for name, why in self._problems.items())
        return f"These files could not be moved away and may run code: {some}." if some else ""

    def display(self) -> DiffDisplay:
        """All of it as a diff. Of a repository its settings and hooks are what has to be read. Blocks."""
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
        """Move it to where it was; gives a sentence about what could not be, "" for nothing. Blocks."""
        problems = {
            name: error.strerror or str(error)
            for kept in self._kept
            for name, error in self._quarantine.put_back(kept).items()
        }
        some = ", ".join(f"{clean(name)} ({why})" for name, why in problems.items())
        return f"could not be put back, and stays in {' and '.join(self.places)}: {some}" if some else ""

    def settle(self) -> None:
        """A person has decided: the next start needn't speak of it. Blocks."""
        for kept in self._kept:
            self._quarantine.settle(kept)
