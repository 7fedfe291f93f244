"""Finds the end of a JSON object whose text arrives in pieces. Reads each piece once."""

from __future__ import annotations

import re

_MARKS = re.compile(r'\\(?:.|$)|["{}\[\]]|\S', re.DOTALL)
_IN_STRING = re.compile(r'\\(?:.|$)|"', re.DOTALL)


class JsonExtent:
    """Counts brackets and follows strings. A parser has to check whether the text is valid otherwise."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escapes = False
        self._has_begun = False
        self._is_spoilt = False

    @property
    def is_closed(self) -> bool:
        """Whether an object or list has ended, with only white space before and after it."""
        return self._has_begun and self._depth == 0 and not self._is_spoilt

    def feed(self, piece: str) -> None:
        """Take the next piece."""
        place = 0
        if self._escapes and piece:  # the previous piece ended with the backslash
            place, self._escapes = 1, False
        while not self._is_spoilt:
            mark = (_IN_STRING if self._in_string else _MARKS).search(piece, place)
            if mark is None:
                return
            place = mark.end()
            self._take(mark[0])

    def _take(self, mark: str) -> None:
        if self._in_string:
            self._escapes = mark == "\\"
            self._in_string = mark != '"'
        elif self._depth == 0 and (self._has_begun or mark not in "{["):
            self._is_spoilt = True
        elif mark in "{[":
            self._has_begun = True
            self._depth += 1
        elif mark in "}]":
            self._depth -= 1
        elif mark == '"':
            self._in_string = True
