"""Finding words in session files: the bytes are searched first, and only lines that hold them are read."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from keen_tui.history import SavedSession, SearchHit
from keen_tui.matching import Needle
from keen_tui.storage.paths import private_opener

_AROUND = 60
"""Characters shown before and after the words."""

_BEYOND_BLANKS = 0x3001
"""No character from here on is a blank."""

_SEARCHED = {
    "turn_started": ("text",),
    "steered": ("text",),
    "turn_done": ("text",),
    "turn_incomplete": ("text",),
    "tool_finished": ("target", "text"),
    "shell_finished": ("command", "text"),
    "compacted": ("summary",),
}
"""What is searched: the words of the user and of the model, what tools acted on and gave back, and what the
user ran."""


def find_in(session: SavedSession, path: Path, words: str, most: int) -> Iterator[SearchHit]:
    """The first places of the session in which the words stand, by the rules of `Needle`. Never raises."""
    needle = Needle(words)
    written = (b"".join(_as_written(letter, exact=needle.exact) for letter in word) for word in needle.words)
    pattern = re.compile(_blanks().join(written))
    try:
        with open(path, "rb", opener=private_opener) as file, _mapped(file.fileno()) as content:
            place = 0
            while most and (found := pattern.search(content, place)):
                start = content.rfind(b"\n", 0, found.start()) + 1
                end = content.find(b"\n", found.end())
                end = len(content) if end < 0 else end
                hit = _hit(session, content[start:end], needle)
                if hit:
                    yield hit
                    most -= 1
                place = end
    except (OSError, ValueError):
        return


def _as_written(letter: str, *, exact: bool) -> bytes:
    """A pattern for the letter, in either case unless it is `exact`, as it stands in a session file."""
    return _any_of((letter,) if exact else dict.fromkeys((letter, letter.lower(), letter.upper())))


@cache
def _blanks() -> bytes:
    """A pattern for all that may stand between two words."""
    return _any_of(filter(str.isspace, map(chr, range(_BEYOND_BLANKS)))) + b"+"


def _any_of(characters: Iterable[str]) -> bytes:
    written = (
        json.dumps(each, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass") for each in characters
    )
    return b"(?:%s)" % b"|".join(map(re.escape, written))


def _mapped(descriptor: int) -> mmap.mmap:
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)


def _hit(session: SavedSession, line: bytes, needle: Needle) -> SearchHit | None:
    try:
        record: dict[str, Any] = json.loads(line)
        texts = [record.get(name) for name in _SEARCHED.get(record["type"], ())]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    for text in texts:
        found = needle.pattern.search(text) if isinstance(text, str) else None
        if found and isinstance(text, str):
            return SearchHit(
                session=session,
                turn=record.get("turn", 0),
                before=_one_line(text[max(found.start() - _AROUND, 0) : found.start()]),
                words=_one_line(found[0]),
                after=_one_line(text[found.end() : found.end() + _AROUND]),
            )
    return None


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
