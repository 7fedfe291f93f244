"""A disk that runs full, and one with deep folders."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files can't grow beyond `size` bytes: a write then fails in its middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def deep_folders(top: Path, depth: int) -> Iterator[None]:
    """`top` and in it so many folders, each in the one before. They are removed in the end: the clean-up of
    temporary folders does not get through them."""
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
