"""Commands that the user allowed for good, each in one workspace: a file in the settings folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keen_tui.disk.by_folder import ByFolder
from keen_tui.tools.shell.patterns import CommandPattern


class Allowances:
    """What is allowed for good in `workspace`, kept in `file` with what is in others.

    Raises:
        ConfigError: the file can't be read. It is left as it is, and nothing of it is allowed.
    """

    def __init__(self, file: Path, workspace: Path) -> None:
        self._kept = ByFolder(file, tuple[CommandPattern, ...])
        self._workspace = workspace
        self.commands = self._kept.get(workspace) or ()

    def add(self, commands: Sequence[CommandPattern]) -> None:
        """Allow these too. Blocking.

        Raises:
            ConfigError: it can't be kept; it holds all the same until the program ends.
        """
        self._change(tuple(dict.fromkeys((*self.commands, *commands))))

    def remove(self, command: CommandPattern) -> None:
        """Ask about this one again. Raises as `add` does."""
        self._change(tuple(each for each in self.commands if each != command))

    def _change(self, commands: tuple[CommandPattern, ...]) -> None:
        self.commands = commands
        self._kept.put(self._workspace, commands)
