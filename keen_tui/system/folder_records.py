"""What the user said of folders, in one JSON file: it holds for a folder as long as it is the same one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from keen_tui.domain.errors import ConfigError
from keen_tui.system.atomic_write import put_file
from keen_tui.system.safe_read import content_of

Said = TypeVar("Said")

_MOST_BYTES: Final = 1_000_000


class ByFolder(Generic[Said]):
    """Values of one type by folder. All methods block.

    Args:
        file: where they are kept; only the user can read it.
        type: what is said of a folder.
    """

    def __init__(self, file: Path, type: type[Said]) -> None:
        self._file = Path(os.path.realpath(file))
        self._type = type

    def get(self, folder: Path) -> Said | None:
        """What was said of the folder, None where nothing was, or of another one that stood there.

        Raises:
            ConfigError: the file can't be read. It is left as it is.
        """
        entry = self._read().get(os.path.realpath(folder), {})
        if entry.get("identity") != _identity(folder):
            return None
        try:
            return msgspec.convert(entry.get("said"), self._type)
        except msgspec.ValidationError as error:
            raise self._unreadable(error) from error

    def put(self, folder: Path, said: Said) -> None:
        """Keep what is said of the folder. Raises ConfigError: it can't be kept."""
        entry = {"identity": _identity(folder), "said": said}
        text = msgspec.json.format(msgspec.json.encode(self._read() | {os.path.realpath(folder): entry}))
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            put_file(self._file, text, content_of(self._file, most=_MOST_BYTES), mode=0o600)
        except OSError as error:
            raise ConfigError(f"It can't be saved in {self._file}: {error.strerror}.") from error

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            content = content_of(self._file, most=_MOST_BYTES)
            return msgspec.json.decode(content, type=dict[str, dict[str, Any]]) if content else {}
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ConfigError:
        return ConfigError(f"{self._file} can't be read ({error}). Fix or delete it; you'll be asked again.")


def _identity(folder: Path) -> str:
    """What tells a folder from another one in its place: its device and its number there."""
    status = folder.stat()
    return f"{status.st_dev}:{status.st_ino}"
