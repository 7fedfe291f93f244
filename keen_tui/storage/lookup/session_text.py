"""The searched text of a session, in a layout that shows at once whether it contains some words."""

from __future__ import annotations

import json
import os
import threading
import time
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from keen_tui.storage.lookup.session_index import IndexedText, State
from keen_tui.storage.paths import private_opener
from keen_tui.storage.reading import LINES_AT_A_STRETCH

SEARCHED: Mapping[str, tuple[str, ...]] = {
    "turn_started": ("text",),
    "steered": ("text",),
    "turn_done": ("text",),
    "turn_incomplete": ("text",),
    "tool_finished": ("target", "text"),
    "shell_finished": ("command", "text"),
    "compacted": ("summary",),
}
"""The searched fields: texts of the user and the model, targets and results of tools, and the user's
commands."""

_BETWEEN = "\0"
"""Separates two texts, so that no match crosses them."""


class _Searched(msgspec.Struct):
    """The fields of a record that may be searched."""

    type: str = ""
    text: str = ""
    target: str = ""
    command: str = ""
    summary: str = ""


_DECODER = msgspec.json.Decoder(_Searched)


def folded(text: str) -> str:
    """The text in lower case and on one line. Texts that a search treats as equal become equal."""
    return " ".join(text.casefold().split())


def texts_of(line: bytes) -> list[str]:
    """The searched texts of a record; none if the line is no record."""
    try:
        record: Any = _DECODER.decode(line)
        return [getattr(record, name) for name in SEARCHED.get(record.type, ())]
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    try:  # lone surrogates, or a field of the wrong type
        record = json.loads(line)
        texts = [record.get(name) for name in SEARCHED.get(record["type"], ())]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
    return [text for text in texts if isinstance(text, str)]


def state_of(status: os.stat_result) -> State:
    """The state of a session file."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"


def read_text(path: Path, stop: threading.Event) -> IndexedText | None:
    """The text of the session; None if `stop` was set meanwhile. Raises OSError.

    `content` has the folded texts in their order; `places` has the end of each text there and the beginning
    of its line in the file.
    """
    content = BytesIO()  # one block, which goes back to the system at once; small texts would stay scattered
    places = array("Q")
    place = 0
    with open(path, "rb", opener=private_opener) as file:
        state = state_of(os.fstat(file.fileno()))
        for number, line in enumerate(file):
            for text in filter(None, map(folded, texts_of(line))):
                content.write((text + _BETWEEN).encode("utf-8", "surrogatepass"))
                places.extend((content.tell(), place))
            place += len(line)
            if number % LINES_AT_A_STRETCH == 0:
                time.sleep(0)
                if stop.is_set():
                    return None
    return IndexedText(state, places.tobytes(), content.getvalue())


def lines_with(text: IndexedText, words: bytes) -> Iterator[int]:
    """The positions in the session file of the lines whose texts contain these words (`folded`, encoded)."""
    found = text.content.find(words)
    if found < 0:
        return
    places = array("Q")
    places.frombytes(text.places[: len(text.places) // 16 * 16])
    ends, lines = places[::2], places[1::2]
    last = -1
    while found >= 0:
        number = bisect_right(ends, found)
        if number >= len(ends):
            return
        if lines[number] != last:
            last = lines[number]
            yield last
        found = text.content.find(words, ends[number])
