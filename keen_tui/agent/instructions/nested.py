"""Files of instructions below the workspace: a turn gets each with the first file beneath it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from keen_tui.agent.instructions.instructions import (
    NO_INSTRUCTIONS,
    InstructionFiles,
    Instructions,
    NestedFiles,
)
from keen_tui.domain.messages import GivenInstructions


class NestedInstructions:
    """Knows which of these files the request has already. A turn gets each of them once; the next turn, which
    doesn't see the results of this one, gets them again.

    Args:
        files: where they are; None: there are none.
        used: the instructions in the system prompt, which share the room with these.
    """

    def __init__(self, files: InstructionFiles | None = None, used: Instructions = NO_INSTRUCTIONS) -> None:
        self._files = files
        self._used = used
        self._given: dict[str, int] | None = None
        self._told: set[str] = set()

    def begin_turn(self, pending: Iterable[GivenInstructions] | None) -> None:
        """A turn begins. `pending` are the files in the traces that it continues from; None: there are no
        traces."""
        if pending is None:
            self._given = {}
        elif self._given is None:
            self._given = {file.name: file.bytes for file in pending}

    def forget(self) -> None:
        """Results of the running turn were shortened: what was given may be gone."""
        self._given = {}

    async def with_file(self, path: str) -> NestedFiles:
        """The files to give with the result of a call that read or changed the file at this path, with
        symlinks resolved. Its sentences are those that the user wasn't told yet."""
        if self._files is None:
            return NestedFiles()
        given = self._given or {}
        found = await asyncio.to_thread(self._files.below, Path(path), self._used, given)
        self._given = given | {file.name: file.bytes for file in found.given}
        told = tuple(sentence for sentence in found.told if sentence not in self._told)
        self._told.update(told)
        return NestedFiles(text=found.text, given=found.given, told=told)
