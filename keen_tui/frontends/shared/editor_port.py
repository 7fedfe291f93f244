"""What the front end of editors is given: it has no session before an editor begins one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.shared.port import FrontEndSetup


class NamedServer(Struct, frozen=True, kw_only=True):
    """An MCP server that the editor names. `entry` has the fields that settings have for a server; `name` is
    the editor's."""

    name: str
    entry: Mapping[str, Any]


class FilesOfEditor(Protocol):
    """The files of a session as its editor has them: with what was written there and isn't saved. `writes`:
    it takes changes, too."""

    writes: bool

    async def read(self, path: Path) -> str | None:
        """The text of a file; None if the editor doesn't give it."""

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file. Raises ToolFailure: the editor couldn't."""


class EditorWork(Protocol):
    """Builds sessions, and knows those that are saved."""

    def missing(self) -> str:
        """Why no model can be used, as a sentence; "" if one can. Blocks."""

    def begin(
        self, folder: Path, servers: Sequence[NamedServer], files: FilesOfEditor | None
    ) -> FrontEndSetup:
        """A session in that folder, beside those that are open. Raises KeenError."""

    async def sessions(self, folder: Path | None) -> tuple[SavedSession, ...]:
        """The saved sessions of that folder, None for all, newest first. Raises KeenError."""
