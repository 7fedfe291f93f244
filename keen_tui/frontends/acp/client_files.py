"""Files of a session, read and written through its editor."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Protocol

from acp.exceptions import RequestError
from acp.schema import ReadTextFileResponse, WriteTextFileResponse
from pydantic import ValidationError

from keen_tui.domain.errors import ToolFailure
from keen_tui.text.sanitize import clean

log = logging.getLogger(__name__)


class FilesConnection(Protocol):
    """The methods of the connection that files need."""

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> ReadTextFileResponse: ...

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> WriteTextFileResponse | None: ...


class ClientFiles:
    """Reads and writes files through the editor. `session_id` is "" until the session has an id.

    Args:
        folder: the folder of the session, as the editor names it.
        reads, writes: the editor offers this. Otherwise it is done on the disk.
    """

    def __init__(self, connection: FilesConnection, folder: Path, *, reads: bool, writes: bool) -> None:
        self.session_id = ""
        self.writes = writes
        self._connection = connection
        self._reads = reads
        self._folder = folder
        self._real_folder = folder.resolve()

    async def read(self, path: Path) -> str | None:
        """The text of a file as the editor has it; None if the editor doesn't give it."""
        if not self._reads:
            return None
        try:
            answer = await self._connection.read_text_file(self.session_id, self._named(path))
        except (RequestError, ConnectionError, ValidationError) as failure:
            log.info("the editor didn't return a file: %s", failure)
            return None
        return answer.content

    async def write(self, path: Path, text: str) -> None:
        """Replace the text of a file. Raises ToolFailure if the editor couldn't."""
        try:
            await self._connection.write_text_file(self.session_id, self._named(path), text)
        except RequestError as refused:
            why = clean(str(refused))
            raise ToolFailure(f"The editor couldn't write {path}: {why}. Read the file again.") from refused
        except (ConnectionError, ValidationError) as failure:
            raise ToolFailure(
                f"The editor didn't confirm that it wrote {path}. Read the file again."
            ) from failure

    def _named(self, path: Path) -> str:
        """The editor's name for a path whose symlinks are resolved."""
        inside = path.is_relative_to(self._real_folder)
        return str(self._folder / path.relative_to(self._real_folder) if inside else path)
