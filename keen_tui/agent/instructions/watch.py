"""Notices that files of instructions change while a session is at work."""

from __future__ import annotations

import asyncio

from keen_tui.agent.instructions.instructions import NO_INSTRUCTIONS, InstructionFiles, Instructions


class InstructionWatch:
    """Notices that the files have changed since the session began. The session keeps the instructions that
    it began with: providers cache a request by its beginning.

    Args:
        files: where they are; None: there are none.
        used: the instructions that the session began with.
    """

    def __init__(self, files: InstructionFiles | None, used: Instructions = NO_INSTRUCTIONS) -> None:
        self._files = files
        self._used = used
        self._newest = used.text

    async def read(self) -> Instructions:
        """The instructions as they stand in their files now."""
        return await asyncio.to_thread(self._files.read) if self._files else NO_INSTRUCTIONS

    async def changed(self) -> str:
        """A sentence about a change that was not reported yet, "" where there is none."""
        if self._files is None:
            return ""
        now = await self.read()
        is_new, self._newest = now.text not in (self._used.text, self._newest), now.text
        name = now.label or self._used.label
        told = f"{name} has changed. This session keeps the earlier version: /new and /fork read it again."
        return told if is_new else ""
