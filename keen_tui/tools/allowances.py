"""Commands that the user allowed for good, each in one workspace: a file in the settings folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from keen_tui.disk.reading import content_of
from keen_tui.disk.replacing import put_file
from keen_tui.errors import ConfigError
from keen_tui.tools.shell.patterns import CommandPattern

_MOST_BYTES: Final = 1_000_000


class _Kept(Struct, frozen=True, kw_only=True):
    """What is allowed in a folder, as long as it is the same one: its device and number on the disk."""

    identity: str
    commands: tuple[CommandPattern, ...] = ()


class Allowances:
    """What is allowed for good in `workspace`, kept in `file` with what is in others.

    Raises:
        ConfigError: the file can't be read. It is left as it is, and nothing of it is allowed.
    """

    def __init__(self, file: Path, workspace: Path) -> None:
        self._file = Path(os.path.realpath(file))
        self._workspace = os.path.realpath(workspace)
        self._identity = identity_of(workspace)
        self.commands = self._mine(self._read())

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
        kept = self._read() | {self._workspace: _Kept(identity=self._identity, commands=commands)}
        text = msgspec.json.format(msgspec.json.encode(kept))
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            put_file(self._file, text, content_of(self._file, most=_MOST_BYTES), mode=0o600)
        except OSError as error:
            raise ConfigError(f"It can't be kept in {self._file}: {error.strerror}.") from error

    def _mine(self, kept: dict[str, _Kept]) -> tuple[CommandPattern, ...]:
        mine = kept.get(self._workspace)
        return mine.commands if mine and mine.identity == self._identity else ()

    def _read(self) -> dict[str, _Kept]:
        try:
            content = content_of(self._file, most=_MOST_BYTES)
            return msgspec.json.decode(content, type=dict[str, _Kept]) if content else {}
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise ConfigError(
                f"{self._file} can't be read ({error}). Mend it, or remove it and be asked again."
            ) from error


def identity_of(folder: Path) -> str:
    """What tells a folder from another one that took its place."""
    status = folder.stat()
    return f"{status.st_dev}:{status.st_ino}"
