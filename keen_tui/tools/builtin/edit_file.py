"""edit_file: replace a piece of text in a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolSpec
from keen_tui.tools.builtin.file_change import prepared_change, require_known
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.files.contents import current_content
from keen_tui.tools.files.edits import replace_text
from keen_tui.tools.files.reading import decode, encode
from keen_tui.tools.files.workspace import Workspace


class EditFile:
    """Changes only the place that `old_text` names; everything else keeps its bytes."""

    spec = ToolSpec(
        name="edit_file",
        description=(
            "Replace old_text with new_text in a file; all other bytes stay as they are. old_text must match "
            "the file exactly, with its indentation and without the line numbers of read_file, and must "
            "occur exactly once: add lines around it to make it unique, or set replace_all to change "
            "every occurrence. Read the file first. Line endings and a byte order mark are kept for you: "
            "write plain \\n."
        ),
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative to the workspace."},
                "old_text": {"type": "string", "description": "The exact text to replace."},
                "new_text": {"type": "string", "description": "The text that replaces it."},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence, not just one."},
            },
            "required": ["path", "old_text", "new_text"],
        },
    )
    only_reads = False

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "path")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given["path"])

        def edited(before: bytes | None) -> tuple[bytes, bytes]:
            if before is None:
                self._workspace.known.note(place.path, None)
                raise ToolFailure(f"{place.name} does not exist. To create it use write_file.")
            text, has_bom = decode(place, before)
            require_known(self._workspace, place, before)
            everywhere = given.get("replace_all", False)
            changed = replace_text(text, given["old_text"], given["new_text"], everywhere=everywhere)
            return before, encode(changed, bom=has_bom)

        before, after = await asyncio.to_thread(edited, await current_content(self._workspace, place))
        return await prepared_change(self._workspace, place, before, after)
