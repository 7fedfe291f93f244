"""Keeps what would be lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from keen_tui.domain.file_changes import FileChange


class Backup(Protocol):
    """Keeps what would be lost: the content of files before a change, and long output. Called in a thread.

    None of the methods may raise, and a change is made even if the backup fails.
    """

    def keep(
        self, path: Path, name: str, before: bytes | None, after: bytes | None, mode: int | None
    ) -> None:
        """Save a file that is about to be changed; returns once its content is on the disk.

        `before` and `mode`, the permission bits, are None if the file doesn't exist yet. `name` is how memory
        calls `path`, whose symlinks are resolved.
        """

    def note_changes(self, changes: Sequence[FileChange]) -> None:
        """Save what a command has changed."""

    def withdraw(self, path: Path) -> None:
        """Withdraw the last change of this path, which wasn't made after all."""

    def new_output_file(self) -> Path | None:
        """A new file for output that is too long for a result; None: the output isn't kept."""

    def is_output(self, path: Path) -> bool:
        """Whether the path, with its symlinks resolved, is an output file of this session."""
