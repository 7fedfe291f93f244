"""Syntax colours: code as runs of our code roles. Pygments is loaded with the first line of code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from keen_tui.display import DiffLine
from keen_tui.plain import TAB_CELLS, clean

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST: Final = 100_000
"""Code with more characters than this stays plain."""

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


def highlight(code: str, language: str = "", path: str = "") -> list[Coloured]:
    """The lines of `code`, coloured as `language` (a fence's word) or as the name in `path` says."""
    lexer = _lexer(language.lower(), path.rsplit("/", 1)[-1])
    if lexer is None or len(code) > LONGEST:
        return [[(line, "text")] if line else [] for line in code.split("\n")]
    lines: list[Coloured] = [[]]
    for kind, text in lexer.get_tokens(code):
        role = _role(kind)
        for number, piece in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if piece and lines[-1] and lines[-1][-1][1] == role:
                lines[-1][-1] = (lines[-1][-1][0] + piece, role)
            elif piece:
                lines[-1].append((piece, role))
    return lines


def highlight_hunk(hunk: Sequence[DiffLine], path: str) -> list[Coloured]:
    """The rows of a diff, made safe and coloured: the old and the new text are each read as a whole."""
    old = iter(highlight(_joined(hunk, without="+"), path=path))
    new = iter(highlight(_joined(hunk, without="-"), path=path))
    rows: list[Coloured] = []
    for row in hunk:
        of_old = next(old) if row.sign != "+" else []
        of_new = next(new) if row.sign != "-" else []
        rows.append(of_old if row.sign == "-" else of_new)
    return rows


def _joined(hunk: Sequence[DiffLine], *, without: str) -> str:
    return "\n".join(safe_code(row.text).replace("\n", " ") for row in hunk if row.sign != without)


def safe_code(code: str) -> str:
    """Code from outside without what would act on the terminal, tabs filled with blanks."""
    return clean(code, newlines=True, tabs=True).expandtabs(TAB_CELLS)


@lru_cache(maxsize=64)
def _lexer(language: str, file_name: str) -> Lexer | None:
    from pygments import lexers  # noqa: PLC0415 - 20 ms that the first paint must not pay
    from pygments.util import ClassNotFound  # noqa: PLC0415

    options: dict[str, Any] = {"stripnl": False, "ensurenl": False}
    try:
        if language:
            return lexers.get_lexer_by_name(language, **options)
        if file_name:
            return lexers.get_lexer_for_filename(file_name, **options)
    except ClassNotFound:
        pass
    return None


@lru_cache(maxsize=512)
def _role(kind: Any) -> str:
    """The role of a pygments token type: that of its nearest ancestor that has one."""
    return next((_ROLES[name] for name in _ancestors(str(kind)) if name in _ROLES), "text")


def _ancestors(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]
