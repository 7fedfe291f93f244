"""Resolves paths: where a path leads behind all symlinks, whether that is inside the workspace, and its
name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.access.access import Access
from keen_tui.tools.access.sensitive import holds_secrets
from keen_tui.tools.files.backup import Backup
from keen_tui.tools.files.known_files import KnownFiles
from keen_tui.tools.rules.rules import NO_RULES, Rules

_LONGEST_PATH = 4_096
"""Bytes from which on no program can open a path."""


class ResolvedPath(Struct, frozen=True):
    """A path with symlinks resolved.

    `name` is its name for the model and memory (turn.md rule 13): relative to the workspace, with forward
    slashes, `../x` outside. Bytes that aren't UTF-8 are replaced in it.
    """

    path: Path
    name: str
    inside: bool

    @property
    def subject(self) -> str:
        """Its name in questions: outside the workspace the whole path."""
        return self.name if self.inside else speakable(str(self.path))


class EditorFiles(Protocol):
    """The files of an editor."""

    @property
    def writes(self) -> bool:
        """Whether the editor takes changes."""

    async def read(self, path: Path) -> str | None:
        """The text of a file, with changes that aren't saved; None if the editor doesn't give it."""

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file. Raises ToolFailure: the editor couldn't."""


class Workspace:
    """The folder that the agent works in, and what the model knows about its files.

    `backup` learns of each change before it is made, and names files for long output; None: nothing is saved.
    `rules` are the user's. `skills` are the folders of skills, with symlinks resolved. `editor` has the files
    as the person sees them; None: the disk has. `caller` is the folder that a sub-agent leaves as it is,
    since it works apart from its caller.
    """

    def __init__(
        self,
        root: Path,
        backup: Backup | None = None,
        rules: Rules = NO_RULES,
        skills: Sequence[Path] = (),
        editor: EditorFiles | None = None,
        caller: Path | None = None,
    ) -> None:
        self.editor = editor
        self.root = Path(os.path.realpath(root))
        self.known = KnownFiles()
        self.backup = backup
        self.rules = rules
        self.is_broad = bool(broad_folder(self.root))
        self._skills = frozenset(skills)
        self._caller = Path(os.path.realpath(caller)) if caller else None

    def new_output_file(self) -> Path | None:
        """A file for output that is too long for a result; None: such output isn't saved. Called in a
        thread."""
        return self.backup.new_output_file() if self.backup else None

    def reads_freely(self, place: ResolvedPath) -> bool:
        """Whether the model may read the place as if it were inside the workspace: it may read the output of
        its commands, and the files of skills."""
        is_output = self.backup is not None and self.backup.is_output(place.path)
        return (
            self.frees(place) or is_output or not self._skills.isdisjoint((place.path, *place.path.parents))
        )

    @property
    def concern(self) -> str:
        """Why all calls ask in this workspace; "" if they don't."""
        return "your whole home folder can't be a workspace" if self.is_broad else ""

    def frees(self, place: ResolvedPath) -> bool:
        """Whether the place counts as inside the workspace. If the workspace is a home folder, nothing
        does."""
        return place.inside and not self.is_broad

    def reading(self, place: ResolvedPath) -> Access:
        """The access of a call that reads the place."""
        return Access(
            kind="read",
            subject=place.subject,
            path=str(place.path),
            inside=self.reads_freely(place),
            concern=self.concern,
        )

    def require_own(self, place: ResolvedPath) -> None:
        """Raises ToolFailure: the place is in the folder that a sub-agent leaves as it is."""
        if self._caller and not place.inside and place.path.is_relative_to(self._caller):
            raise ToolFailure(
                f"{place.subject} is in your caller's folder, which you don't change. Change the same file "
                f"in your own work tree, {self.root}."
            )

    def withholds(self, place: ResolvedPath) -> bool:
        """Whether a search skips the file, and a command that reads it asks: it may contain keys, or a rule
        is about it."""
        return holds_secrets(place.name) or self.rules.withhold(
            place.subject, str(place.path), inside=place.inside
        )

    def place(self, raw: str) -> ResolvedPath:
        """The place that `raw` leads to: relative to the root, absolute, or with a leading `~`.

        Raises:
            ToolFailure: it isn't a path, or no file can have it.
        """
        if not raw.strip() or "\0" in raw:
            raise ToolFailure(
                f"{raw[:80]!r} isn't a path. Give one relative to the workspace, such as src/app.py."
            )
        try:
            given = Path(raw).expanduser() if raw.startswith("~") else raw
            real = os.path.realpath(self.root / given)
        except (OSError, ValueError, RuntimeError) as error:
            raise ToolFailure(f"{raw[:200]!r} can't be used as a path: {error}.") from error
        if len(os.fsencode(real)) >= _LONGEST_PATH:
            raise ToolFailure(f"{raw[:80]!r}... is too long for a path.")
        inside = real == str(self.root) or real.startswith(f"{str(self.root).rstrip(os.sep)}{os.sep}")
        name = Path(os.path.relpath(real, self.root)).as_posix()
        return ResolvedPath(Path(real), speakable(name), inside)


def broad_folder(folder: Path) -> str:
    """A sentence about a workspace that is a whole home folder or more; "" for others.

    In such a workspace nothing counts as inside, so everything asks.
    """
    real, home = Path(os.path.realpath(folder)), Path(os.path.realpath(Path.home()))
    if real != home and real not in home.parents:
        return ""
    what = "your whole home folder" if real == home else f"{real}, with your home folder in it"
    return f"This is {what}: everything asks here. Start in a project folder."


def speakable(path: str) -> str:
    """A path that fits into every text: bytes that aren't UTF-8 become replacement characters."""
    return os.fsencode(path).decode("utf-8", "replace")
