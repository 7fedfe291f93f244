"""The rows of a reply. Those of code are coloured and drawn when they are read: while a long reply arrives,
most of its rows leave the view before they are painted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias, overload

from keen_tui.frontends.tui.markdown.code import code_block
from keen_tui.frontends.tui.markdown.highlight import highlight
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.text.highlighting import Coloured, safe_code


class Code:
    """A piece of code and, once somebody asks for them, its colours."""

    def __init__(self, source: str, language: str) -> None:
        self._text = safe_code(source)
        self._language = language

    @cached_property
    def _coloured(self) -> list[Coloured]:
        return highlight(self._text, self._language)

    def rows(self, look: RenderStyle) -> list[LateRow]:
        """Its rows, gutter included. None of them is drawn yet."""
        gutter = look.gutter()
        texts = self._text.split("\n")
        block = code_block(texts, lambda line: self._coloured[line], look.wide, look.styles, ground="panel")
        rows = block.mapped(lambda row: row.behind(gutter))
        return [LateRow(rows, number) for number in range(len(rows))]


class LateRow(NamedTuple):
    """A row of code by its number."""

    rows: LazyLines
    number: int


AnyRow: TypeAlias = Line | LateRow


class LateRows(Sequence[Line]):
    """Rows of which some aren't drawn before they are read."""

    def __init__(self, rows: Sequence[AnyRow]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...

    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [_drawn(row) for row in self._rows[index]]
        return _drawn(self._rows[index])

    def __iter__(self) -> Iterator[Line]:
        return map(_drawn, self._rows)

    def with_last(self, line: Line) -> LateRows:
        """The same rows, but `line` in place of the last one."""
        return LateRows([*self._rows[:-1], line])


def _drawn(row: AnyRow) -> Line:
    return row.rows[row.number] if isinstance(row, LateRow) else row
