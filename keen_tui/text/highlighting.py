"""Syntax colours: code as runs of our code roles. Pygments is loaded with the first line of code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from keen_tui.domain.display import DiffLine
from keen_tui.text.sanitize import TAB_CELLS, clean

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST: Final = 100_000
"""Code with more characters than this stays plain."""

_PARTS: Final = "<script>1</script>\n<style>a {}</style>\n<?php 1 ?>\n"
"""A piece of everything that some lexers hand to others."""
_LEXERS_KEPT: Final = 64

Coloured: TypeAlias = list[tuple[str, str]]
"""One line of code: pieces of text, each with its role ("text" where it has no colour)."""


_ROLES: Final = {
    "Token.Keyword": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Name.Tag": "keyword",
    "Token.Literal.String": "string",
    "Token.Literal.String.Interpol": "text",
    "Token.Literal.Number": "number",
    "Token.Literal.Date": "number",
    "Token.Comment": "comment",
    "Token.Name.Function": "name",
    "Token.Name.Class": "name",
    "Token.Name.Decorator": "name",
    "Token.Name.Attribute": "name",
    "Token.Generic.Heading": "name",
    "Token.Generic.Subheading": "name",
    "Token.Generic.Inserted": "add",
    "Token.Generic.Deleted": "del",
}


_lexers: dict[tuple[str, str], Lexer | None] = {}
_loaded: set[tuple[str, str]] = set()
_lexers_lock = threading.Lock()


class LazyColours:
    """Lines of code with their colours. The code is read only as far as its lines are asked for."""

    def __init__(self, code: str, language: str = "", path: str = "") -> None:
        """`language` is a fence's word; else the name in `path` says what it is."""
        self.lines = code.split("\n")
        self._tokens: Iterator[tuple[Any, str]] | None = None
        self._read: list[Coloured] = [[]]
        self.colour(language, path)

    def __getitem__(self, number: int) -> Coloured:
        while self._tokens and len(self._read) <= number + 1 and self._read_on(self._tokens):
            pass
        if self._tokens and number < len(self._read):
            return self._read[number]
        return self._plain(number)

    def colour(self, language: str, path: str) -> None:
        """Give code its colours that had none."""
        code = "\n".join(self.lines)
        lexer = _lexer(_key(language, path)) if (language or path) and len(code) <= LONGEST else None
        # Many rules end with the end of a line: without one the last line has other colours, or none.
        self._tokens = iter(lexer.get_tokens(code + "\n")) if lexer else None

    @property
    def is_coloured(self) -> bool:
        return self._tokens is not None

    @property
    def lines_read(self) -> int:
        """How many lines have been read to their end."""
        return len(self._read) - 1

    def read_all(self) -> None:
        """Read the code to its end. May be done in a thread while `so_far` is asked for lines."""
        while self._tokens and self._read_on(self._tokens):
            pass

    def so_far(self, number: int) -> Coloured:
        """A line, plain where it was not read yet."""
        return self._read[number] if number < self.lines_read else self._plain(number)

    def _plain(self, number: int) -> Coloured:
        line = self.lines[number]
        return [(line, "text")] if line else []

    def _read_on(self, tokens: Iterator[tuple[Any, str]]) -> bool:
        """Take one more token. False: there are no more."""
        kind, text = next(tokens, (None, ""))
        if kind is None:
            return False
        role = _role(kind)
        for number, piece in enumerate(text.split("\n")):
            if number:
                self._read.append([])
            line = self._read[-1]
            if piece and line and line[-1][1] == role:
                line[-1] = (line[-1][0] + piece, role)
            elif piece:
                line.append((piece, role))
        return True


class LazyHunkColours:
    """The rows of a diff, made safe and coloured: the old and the new text are each read as a whole, behind
    the signs of what they begin inside of."""

    def __init__(
        self,
        hunk: Sequence[DiffLine],
        path: str,
        colours: Callable[..., LazyColours] = LazyColours,
        *,
        opened: tuple[str, str] = ("", ""),
    ) -> None:
        leads = [safe_code(f"{sign}\n") if sign else "" for sign in opened]
        self._old = colours(leads[0] + _joined(hunk, without="+"), path=path)
        self._new = colours(leads[1] + _joined(hunk, without="-"), path=path)
        self._places: list[tuple[LazyColours, int]] = []
        old, new = (lead.count("\n") for lead in leads)
        for row in hunk:
            self._places.append((self._old, old) if row.sign == "-" else (self._new, new))
            old += row.sign != "+"
            new += row.sign != "-"

    def text(self, row: int) -> str:
        """A row without its colours."""
        colours, number = self._places[row]
        return colours.lines[number]

    def __getitem__(self, row: int) -> Coloured:
        colours, number = self._places[row]
        return colours[number]


def highlight(code: str, language: str = "", path: str = "") -> list[Coloured]:
    """The lines of `code`, coloured as `language` (a fence's word) or as the name in `path` says."""
    colours = LazyColours(code, language, path)
    return [colours[number] for number in range(len(colours.lines))]


def highlight_hunk(hunk: Sequence[DiffLine], path: str, opened: tuple[str, str] = ("", "")) -> list[Coloured]:
    """The rows of a diff, coloured. `opened` is what the old and the new text begin inside of."""
    colours = LazyHunkColours(hunk, path, opened=opened)
    return [colours[row] for row in range(len(hunk))]


def _joined(hunk: Sequence[DiffLine], *, without: str) -> str:
    """One side of a hunk. What a file holds is not hidden: its escape sequences can be read."""
    rows = (clean(row.text, tabs=True, escapes=True) for row in hunk if row.sign != without)
    return "\n".join(row.expandtabs(TAB_CELLS) for row in rows)


def safe_code(code: str) -> str:
    """Code from outside without what would act on the terminal, tabs filled with blanks."""
    return clean(code, newlines=True, tabs=True).expandtabs(TAB_CELLS)


def is_loaded(language: str, path: str) -> bool:
    """Whether code of that kind is coloured without anything being loaded for it."""
    return _key(language, path) in _loaded


def load(language: str, path: str) -> None:
    """Load what colours code of that kind. May be done in a thread."""
    lexer = _lexer(_key(language, path))
    if lexer is not None:
        # What it hands parts on to is loaded with the first of them.
        for _ in lexer.get_tokens(_PARTS):
            pass
    _loaded.add(_key(language, path))


def _key(language: str, path: str) -> tuple[str, str]:
    return ("", path.rsplit("/", 1)[-1]) if path and not language else (language.lower(), "")


def _lexer(key: tuple[str, str]) -> Lexer | None:
    with _lexers_lock:
        if key in _lexers:
            return _lexers[key]
    found = _found_lexer(*key)
    with _lexers_lock:
        while len(_lexers) >= _LEXERS_KEPT:
            del _lexers[next(iter(_lexers))]
        _lexers[key] = found
    return found


def _found_lexer(language: str, file_name: str) -> Lexer | None:
    from pygments import lexers  # noqa: PLC0415 - 20 ms that the first paint must not pay
    from pygments.util import ClassNotFound  # noqa: PLC0415

    options: dict[str, Any] = {"stripnl": False, "ensurenl": False}
    try:
        if language:
            return lexers.get_lexer_by_name(language, **options)
        return lexers.get_lexer_for_filename(file_name, **options)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _role(kind: Any) -> str:
    """The role of a pygments token type: that of its nearest ancestor that has one."""
    return next((_ROLES[name] for name in _ancestors(str(kind)) if name in _ROLES), "text")


def _ancestors(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]
