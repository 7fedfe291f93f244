"""write_file: a whole file, new or in the place of an old one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from keen_tui.messages import ToolSpec
from keen_tui.tools.arguments import checked
from keen_tui.tools.base import PreparedCall
from keen_tui.tools.change import prepared_change
from keen_tui.tools.files import encode, read_if_there
from keen_tui.tools.workspace import Workspace


class WriteFile:
    """Writes exactly the content it is given; folders on the way are made."""

    spec = ToolSpec(
        name="write_file",
        description=(
            "Create a file, or replace all of an existing one. Missing folders are made. "
            "To change a part of a file use edit_file instead."
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

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def target(self, arguments: Mapping[str, Any]) -> str:
        return str(arguments.get("path", ""))

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        place = self._workspace.place(given["path"])
        after = encode(given["content"], bom=False)
        before = await asyncio.to_thread(read_if_there, place)
        return prepared_change(place, before, after)
