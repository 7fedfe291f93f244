"""Where a path leads, and how it is called: inside the workspace or not, after symlinks are resolved."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.base import Access, Backup
from keen_tui.tools.files.known_files import KnownFiles
from keen_tui.tools.permissions.rules import NO_RULES, Rules
from keen_tui.tools.permissions.sensitive import holds_secrets

_LONGEST_PATH = 4_096
"""Bytes at which no program could open the path any more."""


class ResolvedPath(Struct, frozen=True):
    """A path with symlinks resolved.

    `name` is how the model and memory call it (turn.md rule 13): relative to the workspace, with forward
    slashes, `../x` outside it. Bytes of a name that are no UTF-8 are replaced in it.
    """

    path: Path
    name: str
    inside: bool

    @property
    def subject(self) -> str:
        """How a person is asked about it: outside the workspace the whole path."""
        return self.name if self.inside else speakable(str(self.path))


class Workspace:
    """The folder that the agent works in, and what the model knows of its files.

    `backup` is told of each change before it is made and names files for long output; None: nothing is kept.
    `rules` are those of the user.
    """

    def __init__(self, root: Path, backup: Backup | None = None, rules: Rules = NO_RULES) -> None:
        self.root = Path(os.path.realpath(root))
        self.known = KnownFiles()
        self.backup = backup
        self.rules = rules
        self.is_broad = bool(broad_folder(self.root))

    def new_output_file(self) -> Path | None:
        """A file for output that is too long for a result; None: it is not kept. Called in a thread."""
        return self.backup.new_output_file() if self.backup else None

    def reads_freely(self, place: ResolvedPath) -> bool:
        """Whether the model may read there as inside the workspace: it may read what its commands wrote."""
        return self.frees(place) or (self.backup is not None and self.backup.is_output(place.path))

    @property
    def concern(self) -> str:
        """Why all calls ask in this workspace; "" where they don't."""
        return "your whole home folder can't be a workspace" if self.is_broad else ""

    def frees(self, place: ResolvedPath) -> bool:
        """Whether the place is inside, and that means anything: in a whole home folder it does not."""
        return place.inside and not self.is_broad

    def reading(self, place: ResolvedPath) -> Access:
        """The access of a call that reads there."""
        return Access(
            kind="read",
            subject=place.subject,
            path=str(place.path),
            inside=self.reads_freely(place),
            concern=self.concern,
        )

    def withholds(self, place: ResolvedPath) -> bool:
        """Whether a search passes over a file, and a command that reads it asks: it may hold keys, or a rule
        is about it."""
        return holds_secrets(place.name) or self.rules.withhold(
            place.subject, str(place.path), inside=place.inside
        )

    def place(self, raw: str) -> ResolvedPath:
        """Where `raw` leads: relative to the root, absolute, or with a leading `~`.

        Raises:
            ToolFailure: no path at all, or one that no file can have.
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
    """What is to be said of a folder that is no project's, but a whole home folder or more; "" for others.

    In such a one nothing is inside a workspace, so that everything asks.
    """
    real, home = Path(os.path.realpath(folder)), Path(os.path.realpath(Path.home()))
    if real != home and real not in home.parents:
        return ""
    what = "your whole home folder" if real == home else f"{real}, with your home folder in it"
    return f"This is {what}: everything asks here. Start in a project folder."


def speakable(path: str) -> str:
    """A path that every text can carry: bytes that are no UTF-8 become replacement marks."""
    return os.fsencode(path).decode("utf-8", "replace")
