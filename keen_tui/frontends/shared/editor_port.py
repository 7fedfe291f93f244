"""The rest of the program as the front end for editors sees it. The editor begins the sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.shared.port import FrontEndSetup


class NamedServer(Struct, frozen=True, kw_only=True):
    """An MCP server that the editor passes. `name` is the editor's; `entry` has the fields of a server in the
    settings."""

    name: str
    entry: Mapping[str, Any]


class FilesOfEditor(Protocol):
    """The files of a session as its editor has them, with unsaved changes. `writes`: the editor also accepts
    changes."""

    writes: bool

    async def read(self, path: Path) -> str | None:
        """The text of a file; None if the editor doesn't give it."""

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file. Raises ToolFailure: the editor couldn't."""


class EditorWork(Protocol):
    """Builds sessions, and lists the saved ones."""

    def missing(self) -> str:
        """Why no model can be used, as a sentence; "" if one can. Blocks."""

    def begin(
        self, folder: Path, servers: Sequence[NamedServer], files: FilesOfEditor | None
    ) -> FrontEndSetup:
        """A new session in that folder; others stay open. Raises KeenError."""

    async def sessions(self, folder: Path | None) -> tuple[SavedSession, ...]:
        """The saved sessions of that folder, None for all, newest first. Raises KeenError."""
