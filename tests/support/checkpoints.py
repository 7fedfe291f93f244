"""A project whose files turns change, and its checkpoints."""

from __future__ import annotations

from pathlib import Path

from keen_tui.storage.checkpoints.checkpoints import Checkpoints


class Project:
    """Files below `root`, and their checkpoints in `folder`."""

    def __init__(self, place: Path) -> None:
        self.root = place / "project"
        self.root.mkdir()
        self.folder = place / "data" / "session"
        self.checkpoints = Checkpoints(self.folder)

    def reopened(self) -> Checkpoints:
        """The same checkpoints as another start of the program finds them."""
        return Checkpoints(self.folder)

    def write(self, name: str, content: bytes) -> Path:
        """Write a file like the user."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def read(self, name: str) -> bytes | None:
        file = self.root / name
        return file.read_bytes() if file.exists() else None

    def change(self, turn: int, name: str, content: bytes) -> None:
        """Change a file like the edit of a turn."""
        before = self.read(name)
        file = self.root / name
        mode = None if before is None else file.stat().st_mode & 0o7777
        self.checkpoints.keep(turn, file, name, before, content, mode)
        self.write(name, content)
