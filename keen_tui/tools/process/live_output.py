"""Live output: passes on new output, cleaned, a few times a second, no matter how fast it arrives."""

from __future__ import annotations

import asyncio
import codecs
import re
import threading

from keen_tui.tools.process.bounded_output import CONTINUATION, CapturedOutput, OutputSink, cleaned

INTERVAL = 0.1
"""Seconds between two pieces of live output."""

MOST_CHARACTERS = 4_000
"""The most characters in one piece, the newest ones; earlier ones are only counted."""

_MOST_BYTES = 4 * MOST_CHARACTERS
"""Bytes that surely contain that many characters."""

_UNFINISHED = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)?|\r)\Z")
"""The beginning of an escape sequence, or a carriage return whose line feed may still come."""


class LiveOutput:
    """Captures output and passes on new output: the first at once, then every INTERVAL.

    `feed` may be called in another thread; `on_output` is called by the event loop that created this object.
    """

    def __init__(self, captured: CapturedOutput, on_output: OutputSink) -> None:
        self._captured = captured
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._new = b""
        self._skipped = False
        self._waiting = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._in_line = False
        self._due: asyncio.TimerHandle | None = None

    def feed(self, chunk: bytes) -> None:
        """Take output. Costs next to nothing: only output that will be shown is processed."""
        with self._lock:
            self._captured.feed(chunk)
            new = self._new + chunk[-_MOST_BYTES:]
            self._skipped |= len(self._new) + len(chunk) > _MOST_BYTES
            self._new = new[-_MOST_BYTES:]
            was_waiting, self._waiting = self._waiting, True
        if not was_waiting:
            self._loop.call_soon_threadsafe(self._show)

    def close(self) -> None:
        """Pass on the rest. Don't call `feed` afterwards."""
        if self._due:
            self._due.cancel()
        text, _ = self._taken()
        self._pass_on(text + self._decoder.decode(b"", final=True))

    def _show(self) -> None:
        text, is_new = self._taken()
        if not is_new:
            self._due = None
            return
        self._due = self._loop.call_later(INTERVAL, self._show)
        unfinished = _UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        self._pass_on(text[:end])

    def _taken(self) -> tuple[str, bool]:
        """The held back and the new output, decoded, and whether anything is new."""
        with self._lock:
            new, self._new = self._new, b""
            skipped, self._skipped = self._skipped, False
            self._waiting = bool(new)
        if skipped:
            self._decoder.reset()
            self._held = ""
            new = new.lstrip(CONTINUATION)
        return _newest(self._held + self._decoder.decode(new), begins_in_line=skipped), bool(new)

    def _pass_on(self, ready: str) -> None:
        text = cleaned(ready)
        if not text:
            return
        if self._in_line and "\r" in ready.replace("\r\n", "\n").partition("\n")[0]:
            text = f"\n{text}"  # the current line starts again
        self._in_line = not text.endswith("\n")
        self._on_output(text, self._captured.lines, self._captured.bytes)


def _newest(text: str, *, begins_in_line: bool) -> str:
    """The end of the text, from the beginning of a line if possible."""
    if len(text) <= MOST_CHARACTERS and not begins_in_line:
        return text
    text = text[-MOST_CHARACTERS:]
    return text[text.find("\n") + 1 :] or text
