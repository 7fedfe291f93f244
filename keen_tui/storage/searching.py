"""Finding words in session files: the bytes are searched first, and only lines that hold them are read."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keen_tui.history import SavedSession, SearchHit
from keen_tui.storage.paths import private_opener

_AROUND = 60
"""Characters shown before and after the words."""

_SEARCHED = {
    "turn_started": ("text",),
    "turn_done": ("text",),
    "turn_incomplete": ("text",),
    "tool_finished": ("target", "text"),
    "compacted": ("summary",),
}
"""What is searched: the words of the user and of the model, what tools acted on and gave back."""


def find_in(session: SavedSession, path: Path, words: str, most: int) -> Iterator[SearchHit]:
    """The first places of the session in which the words stand, without regard to case. Never raises."""
    pattern = re.compile(b"".join(map(_as_written, words)))
    try:
        with open(path, "rb", opener=private_opener) as file, _mapped(file.fileno()) as content:
            place = 0
            while most and (found := pattern.search(content, place)):
                start = content.rfind(b"\n", 0, found.start()) + 1
                end = content.find(b"\n", found.end())
                end = len(content) if end < 0 else end
                hit = _hit(session, content[start:end], words)
                if hit:
                    yield hit
                    most -= 1
                place = end
    except (OSError, ValueError):
        return


def _as_written(character: str) -> bytes:
    """A pattern for the character in either case, as it stands in a session file."""
    cases = dict.fromkeys((character, character.lower(), character.upper()))
    written = (json.dumps(case, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass") for case in cases)
    return b"(?:%s)" % b"|".join(map(re.escape, written))


def _mapped(descriptor: int) -> mmap.mmap:
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)


def _hit(session: SavedSession, line: bytes, words: str) -> SearchHit | None:
    try:
        record: dict[str, Any] = json.loads(line)
        texts = [record.get(name) for name in _SEARCHED.get(record["type"], ())]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    for text in texts:
        found = re.search(re.escape(words), text, re.I) if isinstance(text, str) else None
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
