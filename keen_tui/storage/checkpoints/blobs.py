"""File contents by their hash, each in its own file: equal contents are stored once."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from keen_tui.system.atomic_write import TEMPORARY, put_file, remove_file
from keen_tui.system.folders import make_private
from keen_tui.system.safe_read import content_of

log = logging.getLogger(__name__)

_HASH_LENGTH = 64


def hash_of(content: bytes | None) -> str | None:
    """The name of a content: its SHA-256 as hex digits. None for a file that doesn't exist."""
    return None if content is None else hashlib.sha256(content).hexdigest()


class Blobs:
    """The contents in `folder`, readable by this user only. Nothing is touched before the first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))
        self._known: dict[str, int] | None = None

    @property
    def total(self) -> int:
        """The size of all contents in bytes."""
        return sum(self._sizes.values())

    def __contains__(self, name: str) -> bool:
        return name in self._sizes

    def keep(self, content: bytes, *, flush: bool = True) -> str:
        """Save a content and, by default, flush it to the disk. Returns its hash. Raises OSError."""
        name = hashlib.sha256(content).hexdigest()
        if self._sizes.get(name) != len(content):
            make_private(self._folder)
            put_file(self._folder / name, content, None, mode=0o600, flush=flush)
            self._sizes[name] = len(content)
        return name

    def get(self, name: str) -> bytes | None:
        """The content with that hash. None if it was never saved, was removed, or is damaged."""
        size = self._sizes.get(name)
        if size is None:
            return None
        try:
            content = content_of(self._folder / name, most=size)
        except OSError as error:
            log.warning("a kept content can't be read: %s", error)
            return None
        return content if hash_of(content) == name else None

    def remove(self, name: str) -> None:
        """Remove a content."""
        self._sizes.pop(name, None)
        with suppress(OSError):
            remove_file(self._folder / name)

    def copy_to(self, folder: Path, names: Collection[str]) -> None:
        """Copy these contents, as far as they exist, to another folder. Raises OSError."""
        make_private(folder)
        for name in names:
            if name in self._sizes and not (folder / name).exists():
                try:
                    os.link(self._folder / name, folder / name)
                except OSError:
                    shutil.copy2(self._folder / name, folder / name)

    @property
    def _sizes(self) -> dict[str, int]:
        """The size of each content in bytes, by its hash."""
        if self._known is None:
            self._known = self._found()
        return self._known

    def _found(self) -> dict[str, int]:
        """The contents in the folder, with their sizes. Removes temporary files that a killed program left
        there."""
        sizes: dict[str, int] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.name.startswith(TEMPORARY):
                        Path(entry).unlink()
                    elif len(entry.name) == _HASH_LENGTH and entry.is_file(follow_symlinks=False):
                        sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("kept contents can't be listed: %s", error)
        return sizes
