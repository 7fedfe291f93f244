"""What a part of a file begins inside of: a docstring, a block comment, a fence that was opened above it.

Syntax colours of a part are right only if they know that. It is found with a few rules a language, much
faster than a lexer would; languages that are not here have no such answer.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MOST_CHARACTERS: Final = 1_000_000
"""Text that is looked through; what a longer one leaves open is not known."""

_STRING: Final = r'"(?:\\.|[^"\\\n])*"?'
_QUOTED: Final = r"'(?:\\.|[^'\\\n])*'?"
_LETTER: Final = r"'(?:\\[^\n]{1,10}?|[^'\\\n])'"
_CLOSED_BY: Final = {
    '"""': '"""',
    "'''": "'''",
    "/*": "*/",
    "`": "`",
    "<!--": "-->",
    "<script": "</script",
    "<style": "</style",
    "--[[": "]]",
    "{-": "-}",
}
_ESCAPED: Final = ('"""', "'''", "`")
"""What a backslash before the closing sign leaves open."""


class _Rules(NamedTuple):
    """`opens` matches what goes on over the ends of lines; `skips` what could be taken for that, but ends."""

    opens: str
    skips: str = r"(?!)"

    def compiled(self) -> re.Pattern[str]:
        return re.compile(f"(?P<opens>{self.opens})|(?:{self.skips})", re.MULTILINE | re.IGNORECASE)


_TRIPLE: Final = _Rules(r'"""|' + r"'''", rf"#[^\n]*|{_STRING}|{_QUOTED}")
_C: Final = _Rules(r"/\*", rf"//[^\n]*|{_STRING}|{_LETTER}")
_TEXT_BLOCKS: Final = _Rules(r'/\*|"""', rf"//[^\n]*|{_STRING}|{_LETTER}")
_BACKTICK: Final = _Rules(r"/\*|`", rf"//[^\n]*|{_STRING}|{_QUOTED}")
_FENCE: Final = _Rules(r"^ {0,3}(?:`{3,}|~{3,})[^\n]*")

_LANGUAGES: Final = {
    "py pyi pyw toml": _TRIPLE,
    "c h cc cpp cxx hh hpp m mm cs rs php proto zig v": _C,
    "css scss less": _Rules(r"/\*", f"{_STRING}|{_QUOTED}"),
    "java kt kts scala swift groovy dart": _TEXT_BLOCKS,
    "js jsx mjs cjs ts tsx go": _BACKTICK,
    "sql": _Rules(r"/\*", r"--[^\n]*|'[^'\n]*'?"),
    "html htm xml svg vue": _Rules(r"<!--|<script\b|<style\b"),
    "md markdown": _FENCE,
    "lua": _Rules(r"--\[\[", rf"--[^\n]*|{_STRING}|{_QUOTED}"),
    "hs": _Rules(r"\{-", rf"--[^\n]*|{_STRING}"),
}
_BY_ENDING: Final = {ending: rules for endings, rules in _LANGUAGES.items() for ending in endings.split()}


class Unclosed:
    """Reads a text from its beginning and says what is open at an offset."""

    def __init__(self, text: str, path: str) -> None:
        """The name in `path` says which language it is."""
        rules = _BY_ENDING.get(path.rsplit(".", 1)[-1].lower()) if "." in path else None
        self._text = text
        self._pattern = rules.compiled() if rules else None
        self._at = 0
        self._open = ""

    def at(self, offset: int) -> str:
        """The sign that opened what the character at `offset` is inside of, "" for nothing; `offset` never
        gets smaller."""
        if self._pattern is None or offset > MOST_CHARACTERS:
            return ""
        while self._at < offset:
            self._at = self._end_of_open(offset) if self._open else self._next_open(self._pattern, offset)
        return self._open

    def _next_open(self, pattern: re.Pattern[str], offset: int) -> int:
        """Where to go on behind the next sign; `_open` is that sign if something begins there."""
        found = pattern.search(self._text, self._at, offset)
        if found is None:
            return offset
        self._open = (found["opens"] or "").strip()
        return max(found.end(), self._at + 1)

    def _end_of_open(self, offset: int) -> int:
        """Where what is open ends; `offset` where it does not before that."""
        end = self._closing(self._open).match(self._text, self._at, offset)
        if end is None:
            return offset
        self._open = ""
        return max(end.end(), self._at + 1)

    def _closing(self, opened: str) -> re.Pattern[str]:
        if opened[:3] in ("```", "~~~"):
            sign = opened[: len(opened) - len(opened.lstrip(opened[0]))]
            return re.compile(rf"(?s:.*?)^ {{0,3}}{sign}{sign[0]}*[ \t]*$", re.MULTILINE)
        closes = re.escape(_CLOSED_BY[opened.lower()])
        before = r"(?:\\.|[^\\])*?" if opened in _ESCAPED else ".*?"
        return re.compile(f"{before}{closes}", re.DOTALL | re.IGNORECASE)
