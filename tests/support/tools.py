"""Tools in a folder, called like the loop calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keen_tui.domain.display import Display
from keen_tui.domain.messages import ToolCall, ToolResult
from keen_tui.tools.toolbox import build_toolbox


class ToolBench:
    """Prepares and runs calls in `root`; live output goes to `live`."""

    def __init__(self, root: Path, *, use_rg: bool = True) -> None:
        self.toolbox = build_toolbox(root, use_rg=use_rg)
        self.live: list[tuple[str, int, int]] = []

    async def __call__(self, name: str, **arguments: Any) -> ToolResult:
        """Prepare and run a call. Raises the tool's ToolFailure."""
        prepared = await self.toolbox.prepare(ToolCall(id="1", name=name, arguments=arguments))
        return await prepared.run(lambda *output: self.live.append(output))

    async def preview(self, name: str, **arguments: Any) -> Display | None:
        """The display in the question to the person."""
        return (await self.toolbox.prepare(ToolCall(id="1", name=name, arguments=arguments))).display
