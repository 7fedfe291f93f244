"""Notices that files of instructions change while a session is at work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from keen_tui.agent.instructions.instructions import NO_INSTRUCTIONS, Instructions


class InstructionWatch:
    """Notices that the files have changed since the session began. The session keeps the instructions that
    it began with: providers cache a request by its beginning.

    Args:
        read: reads the files; blocks. None: there are none.
        used: the instructions that the session began with, as its attribute.
    """

    def __init__(self, read: Callable[[], Instructions] | None, used: Instructions = NO_INSTRUCTIONS) -> None:
        self._read = read
        self.used = used
        self._newest = used.text

    async def read(self) -> Instructions:
        """The instructions as they stand in their files now."""
        return await asyncio.to_thread(self._read) if self._read else NO_INSTRUCTIONS

    async def changed(self) -> str:
        """A sentence about a change that was not reported yet, "" where there is none."""
        if self._read is None:
            return ""
        now = await self.read()
        is_new, self._newest = now.text not in (self.used.text, self._newest), now.text
        name = now.label or self.used.label
        told = f"{name} has changed. This session keeps the earlier version: /new and /fork read it again."
        return told if is_new else ""
