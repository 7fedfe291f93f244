"""Live output: what is new, cleaned, a few times a second, however fast it comes."""

from __future__ import annotations

import asyncio
import codecs
import re

from keen_tui.tools.base import OutputSink
from keen_tui.tools.captured import CapturedOutput, cleaned

INTERVAL = 0.1
"""Seconds between two pieces of live output."""

MOST_CHARACTERS = 4_000
"""Newest characters of output that one piece shows; what came before them is only counted."""

_UNFINISHED = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)?|\r)\Z")
"""The beginning of an escape sequence, or a carriage return whose line feed may still come."""


class LiveOutput:
    """Captures output and passes it on, at most every INTERVAL and never much later."""

    def __init__(self, captured: CapturedOutput, on_output: OutputSink) -> None:
        self._captured = captured
        self._on_output = on_output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._new = ""
        self._in_line = False
        self._due: asyncio.TimerHandle | None = None

    def feed(self, chunk: bytes) -> None:
        """Take output as it comes."""
        self._captured.feed(chunk)
        self._new = _newest(self._new + self._decoder.decode(chunk))
        if self._due is None:
            self._show()
            self._due = asyncio.get_running_loop().call_later(INTERVAL, self._again)

    def close(self) -> None:
        """Pass on the rest."""
        if self._due:
            self._due.cancel()
        self._new += self._decoder.decode(b"", final=True)
        self._pass_on(self._new)

    def _again(self) -> None:
        self._due = None
        self._show()

    def _show(self) -> None:
        unfinished = _UNFINISHED.search(self._new)
        end = unfinished.start() if unfinished else len(self._new)
        ready, self._new = self._new[:end], self._new[end:]
        self._pass_on(ready)

    def _pass_on(self, ready: str) -> None:
        text = cleaned(ready)
        if not text:
            return
        if self._in_line and "\r" in ready.replace("\r\n", "\n").partition("\n")[0]:
            text = f"\n{text}"  # the line that was begun starts again
        self._in_line = not text.endswith("\n")
        self._on_output(text, self._captured.lines, self._captured.bytes)


def _newest(text: str) -> str:
    """The end of the text, from a whole line on where there is one."""
    if len(text) <= MOST_CHARACTERS:
        return text
    text = text[-MOST_CHARACTERS:]
    return text[text.find("\n") + 1 :] or text
