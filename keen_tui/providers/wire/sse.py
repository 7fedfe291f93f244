"""An incremental decoder of server-sent events, as the HTML standard defines them.

We have our own since the SDKs hide `[DONE]` and silently drop a cut tail
(docs/decisions/003-own-sse-decoder.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(Struct, frozen=True):
    """One event. `name` is its `event` field ("" for none), `data` its data lines joined by \\n."""

    data: str
    name: str = ""


class SseDecoder:
    """Turns the bytes of a body, in pieces of any size, into events.

    Lines end in LF, CR or CRLF, and nothing else is a line break. Fields other than `event` and `data` are
    ignored, as are comments. Bytes that aren't UTF-8 become U+FFFD.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._held = 0
        self._after_cr = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    @property
    def held(self) -> int:
        """Bytes of the line that hasn't ended yet."""
        return self._held

    def feed(self, piece: bytes) -> list[ServerSentEvent]:
        """The events that end in this piece."""
        return [event for line in self._lines(piece) if (event := self._read(line))]

    def finish(self) -> list[ServerSentEvent]:
        """The last event if only its blank line is missing. Call it once, at the clean end of the body.

        An event whose last line has no line break is dropped: it may have been cut anywhere.
        """
        event = None if self._held else self._dispatch()
        return [event] if event else []

    def _lines(self, piece: bytes) -> Iterator[bytes]:
        if not piece:
            return
        start = 1 if self._after_cr and piece.startswith(b"\n") else 0
        self._after_cr = piece.endswith(b"\r")
        goes_on = b"\n" not in piece and b"\r" not in piece
        *whole, rest = (piece,) if goes_on else _LINE_END.split(piece[start:])
        for line in whole:
            yield b"".join((*self._line, line)) if self._held else line
            self._line, self._held = [], 0
        if rest:
            self._line.append(rest)
            self._held += len(rest)

    def _read(self, line: bytes) -> ServerSentEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        if line == b"data" or line.startswith(b"data:"):
            self._data.append(_value(line, len(b"data")))
        elif line == b"event" or line.startswith(b"event:"):
            self._name = _value(line, len(b"event"))
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        return ServerSentEvent("\n".join(data), name) if data else None


def _value(line: bytes, name_length: int) -> str:
    """The value after the name of a field. Long values aren't copied."""
    start = name_length + (2 if line[name_length + 1 : name_length + 2] == b" " else 1)
    return str(memoryview(line)[start:], "utf-8", "replace")
