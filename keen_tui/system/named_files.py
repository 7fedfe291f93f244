"""The files of a project that a command may mean by its words. Nothing is run to find out."""

from __future__ import annotations

import errno
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_MOST_FOLDERS: Final = 20
"""Folders that one command may name: each word is looked up in each of them."""

_BETWEEN: Final = re.compile(r"\$\{[^}]*\}|\$\w+|[\s;&|<>()=`'\"{},:]+")
"""What can stand around a path in a command: white space, operators, quotes, variables."""

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_OF_MODULE: Final = (".py", "/__init__.py", "/__main__.py")


def named_paths(texts: Iterable[str], start: str, root: Path) -> Iterator[Path]:
    """The paths inside `root` that the words of a command may mean, whether something is there or not: seen
    from the folder `start`, and from every folder that another word names. A variable in front of a path is
    taken for one of these folders. Blocks.

    Raises:
        OSError: the command names too many folders.
    """
    words = list(dict.fromkeys(word for text in texts for word in _words(text) if "\0" not in word))
    folders = {os.path.realpath(start): start}
    for word in words:
        for folder in tuple(folders.values()):
            path = _joined(folder, word)
            if os.path.isdir(path) and is_inside(path, root):  # noqa: PTH112 - never raises
                folders.setdefault(os.path.realpath(path), path)
        if len(folders) > _MOST_FOLDERS:
            raise OSError(errno.E2BIG, f"it names more than {_MOST_FOLDERS} folders")
    found = (_joined(folder, word) for word in words for folder in folders.values())
    yield from (Path(path) for path in dict.fromkeys(found) if is_inside(path, root))


def is_inside(path: str | Path, root: Path) -> bool:
    """Whether a path is inside the folder, as it is written or behind its links."""
    real = Path(os.path.realpath(path))
    return Path(path).is_relative_to(root) or real.is_relative_to(os.path.realpath(root))


def _joined(folder: str, word: str) -> str:
    return os.path.normpath(os.path.join(folder, word))  # noqa: PTH118 - a Path would lose "."


def _words(text: str) -> Iterator[str]:
    """The words in which a path may be named, in their order."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that isn't closed
        words = text.split()
    before = ""
    for word in (text, *words):
        pieces = [piece for piece in _BETWEEN.split(word) if piece]
        for piece in dict.fromkeys((word, word.partition("=")[2], *pieces)):
            if piece:
                yield piece
                yield piece.lstrip("/") or "."
            if before == "-m" and _MODULE.fullmatch(piece):
                yield from (piece.replace(".", "/") + ending for ending in _OF_MODULE)
            before = piece
