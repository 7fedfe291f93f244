"""Passes streaming text on in whole lines, with Markdown as words instead of signs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LONG: Final = 80
"""Characters from which on a line is passed on sentence by sentence, so that a listener needn't wait for its
end."""
_SENTENCE_END = re.compile(r"[.!?:][\"')\]*_]*\s+")
_FENCE = re.compile(r"\s*(?:```|~~~)\s*([\w+#.-]*)\s*$")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_CODE_SPAN = re.compile(r"(`[^`]*`)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|\|?(?:\s*:?-{3,}:?\s*\|?)+)\s*$")


class LineStream:
    """Takes pieces of text and returns whole lines. With `sentences` a long line comes sentence by
    sentence."""

    def __init__(self, *, sentences: bool = False) -> None:
        self._rest = ""
        self._sentences = sentences

    def take(self, piece: str) -> Iterator[str]:
        """The lines that this piece completes."""
        *lines, self._rest = (self._rest + piece).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
        if self._sentences and len(self._rest) > _LONG:
            ends = [found.end() for found in _SENTENCE_END.finditer(self._rest, _LONG // 2)]
            if ends:
                said, self._rest = self._rest[: ends[-1]], self._rest[ends[-1] :]
                yield said.rstrip()

    def end(self) -> Iterator[str]:
        """The rest, at the end of the text."""
        rest, self._rest = self._rest, ""
        if rest:
            yield rest


class Reading:
    """Turns lines of Markdown into words, one after another. Remembers whether it is in a code block."""

    def __init__(self) -> None:
        self._in_code = False

    def line(self, line: str) -> str | None:
        """The line to read out; None if it says nothing."""
        if fence := _FENCE.match(line):
            self._in_code = not self._in_code
            language = f" in {fence[1]}" if fence[1] else ""
            return f"Code{language}:" if self._in_code else "End of code."
        if self._in_code:
            return line
        if not line.strip() or _RULE.match(line):
            return None
        if heading := _HEADING.match(line):
            return f"Heading: {_unmarked(heading[1])}"
        return _unmarked(line)

    def end(self) -> str | None:
        """The line to add at the end of the text, if any."""
        was_in_code, self._in_code = self._in_code, False
        return "End of code." if was_in_code else None


def read_out(text: str) -> Iterator[str]:
    """A whole Markdown text as lines to read out."""
    reading = Reading()
    for line in (*map(reading.line, text.split("\n")), reading.end()):
        if line is not None:
            yield line


def _unmarked(line: str) -> str:
    """The line without the marks of bold words, which would be read as stars; code is unchanged."""
    parts = _CODE_SPAN.split(line)
    return "".join(part if part.startswith("`") else _STRONG.sub(r"\2", part) for part in parts)
