"""Finds words in session files. Skips files that can't contain them, and parses only lines that may."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.storage.lookup.session_index import IndexedText
from keen_tui.storage.lookup.session_text import folded, lines_with, texts_of
from keen_tui.storage.paths import private_opener
from keen_tui.text.find import Needle

_AROUND = 60
"""Characters shown before and after the words."""

_BEYOND_BLANKS = 0x3001
"""No character from here on is white space."""

_STRETCH = 4_000_000
"""Bytes of a file that are searched at once."""

_PLAIN = re.compile(rb"[A-Za-z0-9_]+")
"""Characters that JSON never escapes."""


class LineHit(Struct, frozen=True):
    """A line of a session file with the words, and the text around them, as in `SearchHit`."""

    turn: int
    before: str
    words: str
    after: str

    def of(self, session: SavedSession) -> SearchHit:
        """The search result for the screen."""
        return SearchHit(
            session=session, turn=self.turn, before=self.before, words=self.words, after=self.after
        )


class SessionSearch:
    """Looks for words by the rules of `Needle`. Its methods never raise."""

    def __init__(self, words: str) -> None:
        self._needle = Needle(words)
        self.folded = folded(words).encode("utf-8", "surrogatepass")
        """The words in the form of an indexed text."""
        self._written = _as_written(self._needle)
        plain = max(_PLAIN.findall(words.encode("utf-8", "surrogatepass")), key=len, default=b"")
        self._plain = plain if self._needle.exact else plain.lower()

    def in_file(self, path: Path) -> Iterator[LineHit]:
        """The places in a session file."""
        with suppress(OSError, ValueError), open(path, "rb", opener=private_opener) as file:
            if self._may_be_in(file):
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    yield from self._in_content(content)

    def in_index(self, path: Path, text: IndexedText) -> Iterator[LineHit]:
        """The same for a session whose text is indexed. Checks every place from the index in the file."""
        lines = lines_with(text, self.folded)
        first = next(lines, None)
        if first is None:
            return
        if self._needle.exact:  # the index doesn't distinguish capitals
            yield from self.in_file(path)
            return
        with suppress(OSError, ValueError), open(path, "rb", opener=private_opener) as file:
            for start in (first, *lines):
                file.seek(start)
                if place := _place(file.readline(), self._needle):
                    yield place

    def _may_be_in(self, file: BinaryIO) -> bool:
        """Whether the file may contain the words: ruling a file out is ten times faster than parsing it."""
        rest = b""
        while stretch := file.read(_STRETCH):
            content = rest + (stretch if self._needle.exact else stretch.lower())
            if self._plain in content:
                return True
            rest = content[-len(self._plain) :]
        return False

    def _in_content(self, content: mmap.mmap) -> Iterator[LineHit]:
        begin = 0
        while found := self._written.search(content, begin):
            start = content.rfind(b"\n", 0, found.start()) + 1
            end = content.find(b"\n", found.end())
            end = len(content) if end < 0 else end
            if place := _place(content[start:end], self._needle):
                yield place
            begin = end


def _as_written(needle: Needle) -> re.Pattern[bytes]:
    """A pattern for the words in the bytes of a session file."""
    words = (b"".join(_letter(letter, exact=needle.exact) for letter in word) for word in needle.words)
    return re.compile(_blanks().join(words))


def _letter(letter: str, *, exact: bool) -> bytes:
    """A pattern for the letter, in either case unless it is `exact`."""
    return _any_of((letter,) if exact else dict.fromkeys((letter, letter.lower(), letter.upper())))


@cache
def _blanks() -> bytes:
    """A pattern for everything that may be between two words."""
    return _any_of(filter(str.isspace, map(chr, range(_BEYOND_BLANKS)))) + b"+"


def _any_of(characters: Iterable[str]) -> bytes:
    written = (
        json.dumps(each, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass") for each in characters
    )
    return b"(?:%s)" % b"|".join(map(re.escape, written))


def _place(line: bytes, needle: Needle) -> LineHit | None:
    for text in texts_of(line):
        if found := needle.pattern.search(text):
            return LineHit(
                turn=_turn_of(line),
                before=_one_line(text[max(found.start() - _AROUND, 0) : found.start()]),
                words=_one_line(found[0]),
                after=_one_line(text[found.end() : found.end() + _AROUND]),
            )
    return None


def _turn_of(line: bytes) -> int:
    turn = json.loads(line).get("turn", 0)
    return turn if isinstance(turn, int) else 0


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
