"""write_file: a whole file, new or replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolSpec
from keen_tui.text.redaction import MASK, would_lose_key
from keen_tui.tools.builtin.file_change import prepared_change, require_known
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.contents import current_content
from keen_tui.tools.files.edits import in_style_of
from keen_tui.tools.files.reading import decode, encode
from keen_tui.tools.files.workspace import Workspace


class WriteFile:
    """Writes the given content, with the line endings of the old file. Creates missing folders."""

    spec = ToolSpec(
        name="write_file",
        description=(
            "Create a file, or replace the whole content of one (read it first). Missing folders are "
            "created. To change part of a file, use edit_file. A file that has CRLF line endings or a byte "
            "order mark keeps them: write plain \\n."
        ),
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace."},
                "content": {"type": "string", "description": "The whole new content."},
            },
            "required": ["path", "content"],
        },
    )
    only_reads = False

    def __init__(self, workspace: Workspace, keys: Callable[[], Iterable[str]] = tuple) -> None:
        """`keys` returns the API keys that the model must not see. It may read files."""
        self._workspace = workspace
        self._keys = keys

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "path")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given["path"])

        def written(before: bytes | None) -> tuple[bytes | None, bytes]:
            require_known(self._workspace, place, before)
            if before is None:
                return None, encode(given["content"], bom=False)
            text, has_bom = decode(place, before)
            content = in_style_of(text, given["content"])
            if would_lose_key(self._keys(), text, content):
                raise ToolFailure(
                    f"{place.name} holds an API key, which you are shown as {MASK}. Writing {MASK} would "
                    "overwrite the key. Change the other lines with edit_file."
                )
            return before, encode(content, bom=has_bom and not content.startswith("\ufeff"))

        before, after = await asyncio.to_thread(written, await current_content(self._workspace, place))
        return await prepared_change(self._workspace, place, before, after)
