"""Finds what commands change, by a look at the work tree before and after each (turn.md rule 12)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.display import ChangedFile, DiffDisplay
from keen_tui.domain.facts.command_unwatched import CommandUnwatched
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.file_changes import NO_FILE, FileChange
from keen_tui.domain.messages import Fact
from keen_tui.text.diff import diff_display
from keen_tui.text.redaction import taken_out
from keen_tui.tools.access.sensitive import holds_secrets
from keen_tui.tools.files.backup import Backup
from keen_tui.tools.files.workspace import speakable
from keen_tui.tools.work_tree.file_states import FileStates
from keen_tui.tools.work_tree.tree import TooLarge, WorkTree

log = logging.getLogger(__name__)

_TOO_LARGE: Final = "This folder has too many files: Keen can't see here what commands change."
_FAILED: Final = "Keen can't see what commands change in this folder; the log says why."


SCRATCH: Final = "scratch"
"""The folder of the data folder for what files hold before a command."""

_MOST_SHOWN: Final = 50
"""Files of a command that are shown; of more the rest is counted."""
_MOST_ROWS: Final = 600
"""Rows of all diffs of a command that are shown."""


class CommandChanges(Struct, frozen=True, kw_only=True):
    """The changes of one command: facts for memory, in the order of their paths, and what a person sees of
    them. `more` files aren't `shown`. `notice` is a sentence for the user, "" for none."""

    facts: tuple[Fact, ...] = ()
    shown: tuple[ChangedFile, ...] = ()
    more: int = 0
    notice: str = ""


NOTHING_CHANGED: Final = CommandChanges()


class CommandWatch:
    """Watches the work tree of a workspace. `begin` and `end` block: call them in a thread.

    Args:
        root: the workspace, with its symlinks resolved.
        scratch: a folder for what files hold before a command.
        backup: keeps what a turn changes, for undo.
        keys: gives the API keys that are taken out of what is shown; it may read files.
        watches: whether the user wants this.
    """

    def __init__(
        self,
        root: Path,
        scratch: Path,
        backup: Backup | None,
        keys: Callable[[], Iterable[str]],
        *,
        watches: bool = True,
    ) -> None:
        self._root = root
        self._backup = backup
        self._keys = keys
        self._tree = WorkTree(root)
        self._states = FileStates(root, scratch, self._tree.repository_of)
        self._watches = watches
        self._notice = ""
        self._has_looked = False
        self._lock = threading.Lock()

    def look_ahead(self) -> None:
        """Begin with the first look, which takes long in a large work tree, in a thread. Returns at once."""
        if not self._has_looked and self._watches:
            self._has_looked = True
            threading.Thread(target=self.begin, name="first look", daemon=True).start()

    def begin(self) -> None:
        """Look at the work tree before a command."""
        with self._lock:
            self._has_looked = True
            self._look(asks_all=False)

    def end(self, *, keeps: bool) -> CommandChanges:
        """Returns the changes since `begin`. With `keeps` they belong to the turn, which can be undone."""
        with self._lock:
            changes = self._look(asks_all=True)
            if changes is None:
                notice, self._notice = self._notice, ""
                return CommandChanges(facts=(CommandUnwatched(),), notice=notice)
        if keeps and self._backup:
            self._backup.note_changes(changes)
        if not changes:
            return NOTHING_CHANGED
        found = CommandChanges(
            facts=tuple(FileChanged(path=change.name, by_command=True) for change in changes),
            shown=_shown(changes),
            more=max(len(changes) - _MOST_SHOWN, 0),
        )
        return taken_out(self._keys(), found)

    def _look(self, *, asks_all: bool) -> list[FileChange] | None:
        """Returns the changes since the last check, in the order of the paths; None if nothing is watched."""
        if not self._watches:
            return None
        try:
            return list(self._changes(asks_all=asks_all))
        except TooLarge:
            self._give_up(_TOO_LARGE)
        except Exception:
            log.exception("the work tree can't be looked at")
            self._give_up(_FAILED)
        return None

    def _give_up(self, notice: str) -> None:
        self._watches, self._notice = False, notice
        self._tree = WorkTree(self._root)
        self._states = FileStates(self._root, self._root, self._tree.repository_of)

    def _changes(self, *, asks_all: bool) -> Iterator[FileChange]:
        old, is_first = dict(self._tree.files), not self._tree.is_known
        found = self._tree.look(asks_all=asks_all)
        for name in found.new if is_first else found.noticed:
            self._states.note_first(name)
        if is_first:
            return
        with ExitStack() as open_repositories:
            for repository in self._tree.repositories:
                open_repositories.enter_context(repository.reading())
            for name in sorted(found.new | found.gone | found.changed):
                before = self._states.before(name, old[name][2]) if name in old else NO_FILE
                after = self._states.note(name)
                if not before.is_same(after):
                    yield FileChange(path=self._root / name, name=speakable(name), before=before, after=after)


def _shown(changes: Sequence[FileChange]) -> tuple[ChangedFile, ...]:
    """The changes as a person sees them; of many files or long diffs only the first have their lines."""
    found: list[ChangedFile] = []
    room = _MOST_ROWS
    for change in changes[:_MOST_SHOWN]:
        diff, note = _diff(change, room)
        room -= sum(map(len, diff.hunks)) if diff else 0
        found.append(ChangedFile(path=change.name, change=change.kind, diff=diff, note=note))
    return tuple(found)


def _diff(change: FileChange, room: int) -> tuple[DiffDisplay | None, str]:
    """The changed lines of a file, or why they aren't shown."""
    contents = (change.before.content or b"", change.after.content or b"")
    if change.unkept:
        return None, change.unkept
    if holds_secrets(change.name):
        return None, "it may hold keys or passwords"
    if any(b"\0" in content[:8_192] for content in contents):
        return None, "binary"
    if contents[0] == contents[1] and change.kind == "changed":
        return None, "mode"
    if room <= 0:
        return None, "not shown here"
    before, after = (content.decode("utf-8", "replace") for content in contents)
    return diff_display(change.name, before, after, most_rows=room), ""
