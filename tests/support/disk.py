"""A disk that becomes full, and one with deep folders."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Inside, files can't grow beyond `size` bytes: a write fails in the middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def deep_folders(top: Path, depth: int) -> Iterator[None]:
    """`top` with so many nested folders. They are removed at the end, because the clean-up of temporary
    folders can't handle them."""
    top.mkdir()
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        yield
    finally:
        subprocess.run(("rm", "-rf", str(top)), check=True)
