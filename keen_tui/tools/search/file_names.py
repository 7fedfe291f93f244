"""Finds files of the workspace by a few letters of their names.

The list is read in the background and searched while it grows. A search reads it again if it is older than a
few seconds; until the new list is complete, the old one is used, unless it is much smaller.
"""

from __future__ import annotations

import asyncio
import re
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from heapq import nsmallest
from itertools import accumulate, islice
from pathlib import PurePosixPath
from typing import Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.tools.search.search import Searcher

_FRESH: Final = 5.0
"""Seconds after which a list is read again."""
_JUDGED: Final = 5_000
"""The most paths that are ranked. Only unspecific letters fit more."""


class FileNames:
    """Finds paths by letters in them."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._names = _Names(())
        self._reading: asyncio.Task[None] | None = None
        self._read_at = float("-inf")
        self._grown = asyncio.Event()

    async def matching(self, letters: str, most: int) -> AsyncIterator[Sequence[str]]:
        """At most `most` paths that fit the letters, the best first, folders with a slash at their end.
        Yields again whenever more files have been found."""
        if self._reading is None and time.monotonic() - self._read_at > _FRESH:
            self._reading = asyncio.create_task(self._read())
        while True:
            names, grown, is_last = self._names, self._grown, self._reading is None
            yield await asyncio.to_thread(names.best, letters, most)
            if is_last:
                return
            await grown.wait()

    async def _read(self) -> None:
        shown, names = len(self._names), self._names
        found: list[str] = []
        try:
            async with aclosing(self._searcher.all_files()) as pieces:
                async for more in pieces:
                    found += more
                    if len(found) > 2 * shown:
                        shown = len(found)
                        self._show(await asyncio.to_thread(_Names, tuple(found)))
            names = await asyncio.to_thread(_Names, found)
        except ToolFailure:
            names = self._names  # offers what was found so far
        finally:
            self._reading, self._read_at = None, time.monotonic()
            self._show(names)

    def _show(self, names: _Names) -> None:
        self._names = names
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()


class _Names:
    """Paths with their folders, prepared for searching: one text with a line for each, and the beginnings of
    the lines."""

    def __init__(self, files: Sequence[str]) -> None:
        files = [file for file in files if file.isprintable()]  # others can't be used in a message
        folders = {f"{parent}/" for file in files for parent in _parents(file)}
        self._paths = sorted((*files, *folders))
        lowered = [path.lower() for path in self._paths]
        self._lowered = "\n".join(lowered)
        self._starts = list(accumulate((len(path) + 1 for path in lowered), initial=0))

    def __len__(self) -> int:
        return len(self._paths)

    def best(self, letters: str, most: int) -> list[str]:
        """The paths that fit the letters best: first those that contain them in one piece, then those that
        contain them with others in between."""
        asked = letters.lower()
        if not asked or asked.endswith("/"):
            return self._inside(asked, most)
        found = list(islice(self._holding(asked), _JUDGED))
        if len(found) < most:
            seen = set(found)
            scattered = (place for place in self._scattered(asked) if place not in seen)
            found += islice(scattered, _JUDGED)
        ranked = nsmallest(most, found, key=lambda place: _rank(self._paths[place], asked))
        return [self._paths[place] for place in ranked]

    def _inside(self, folder: str, most: int) -> list[str]:
        """The direct content of a folder, folders first."""
        depth = folder.count("/")
        level = (path for path in self._paths if path.count("/", 0, -1) == depth)
        inside = (path for path in level if path.lower().startswith(folder))
        return sorted(inside, key=lambda path: (not path.endswith("/"), path))[:most]

    def _holding(self, asked: str) -> Iterator[int]:
        """The positions of the paths that contain the letters in one piece."""
        start = self._lowered.find(asked)
        while start >= 0:
            place = bisect_right(self._starts, start) - 1
            yield place
            start = self._lowered.find(asked, self._starts[place + 1])

    def _scattered(self, asked: str) -> Iterator[int]:
        """The positions of the paths that contain the letters in order."""
        wanted = "".join(f"[^{re.escape(letter)}\n]*{re.escape(letter)}" for letter in asked)
        for found in re.finditer(f"^{wanted}", self._lowered, re.MULTILINE):
            yield bisect_right(self._starts, found.start()) - 1


def _parents(file: str) -> Iterator[str]:
    end = file.find("/")
    while end > 0:
        yield file[:end]
        end = file.find("/", end + 1)


def _rank(path: str, asked: str) -> tuple[int, int, str]:
    """The rank of a path; smaller is better. The name itself comes first, then its beginning, its content,
    and the whole path."""
    lowered = path.lower().rstrip("/")
    name = PurePosixPath(lowered).name
    if asked in (name, lowered):
        kind = 0
    elif name.startswith(asked) or lowered.startswith(asked):
        kind = 1
    elif asked in name:
        kind = 2 if re.search(rf"[^a-z0-9]{re.escape(asked)}", name) else 3
    elif asked in lowered:
        kind = 4 if f"/{asked}" in lowered else 5
    else:
        kind = 6
    return kind, len(path), path
