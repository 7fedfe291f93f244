"""Trees of folders of any depth. Before Python 3.12 `os.walk` and `shutil.rmtree` call themselves for each
level, and end with RecursionError below some thousand of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def walk(top: str | Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder from `top` down, with the names of its folders and of its files, as `os.walk` gives them.

    A folder that is taken out of the list is not entered. Links are not followed; what can't be read is
    passed over.
    """
    waiting = [os.fspath(top)]
    while waiting:
        folder = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        yield folder, folders, files
        waiting.extend(f"{folder}/{name}" for name in reversed(folders))


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything in it, as far as that is possible. No link is followed. Blocks."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    # Too deep, or with paths too long, for Python; or folders in it that may not be written.
    for command in (("rm", "-rf"), ("chmod", "-R", "u+rwX"), ("rm", "-rf")):
        if folder.exists():
            _run(*command, "--", str(folder))


def _run(program: str, *arguments: str) -> None:
    with suppress(OSError):
        subprocess.run(
            (f"/bin/{program}", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
