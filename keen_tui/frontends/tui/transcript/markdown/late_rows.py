"""The rows of a reply. Those of code are coloured and drawn when they are read: most rows of a long reply
have left the screen before they were ever painted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias, overload

from keen_tui.frontends.tui.look.highlight import highlight
from keen_tui.frontends.tui.transcript.blocks.lines import Line
from keen_tui.frontends.tui.transcript.markdown.code import code_height, code_lines, code_room
from keen_tui.frontends.tui.transcript.render_style import RenderStyle
from keen_tui.text.highlighting import Coloured, safe_code


class Code:
    """A piece of code and, once somebody asks for them, its colours."""

    def __init__(self, source: str, language: str) -> None:
        self.text = safe_code(source)
        self._language = language

    @cached_property
    def coloured(self) -> list[Coloured]:
        """Its lines."""
        return highlight(self.text, self._language)


class CodeRows:
    """The rows of code in one look. Their number is known before they are drawn."""

    def __init__(self, code: Code, look: RenderStyle) -> None:
        self._code = code
        self._look = look

    def __len__(self) -> int:
        cells = code_room(self._look.wide)
        return sum(code_height(line, cells) for line in self._code.text.split("\n"))

    @cached_property
    def drawn(self) -> Sequence[Line]:
        """All of them."""
        look = self._look
        gutter = look.gutter()
        rows = code_lines(self._code.coloured, look.wide, look.styles, ground="panel")
        return [row.behind(gutter) for row in rows]


class LateRow(NamedTuple):
    """A row of code by its number."""

    code: CodeRows
    number: int


AnyRow: TypeAlias = Line | LateRow


class LateRows(Sequence[Line]):
    """Rows, drawn or not. They are drawn when they are read."""

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
        """The same rows, but for the last one."""
        return LateRows([*self._rows[:-1], line])


def _drawn(row: AnyRow) -> Line:
    return row.code.drawn[row.number] if isinstance(row, LateRow) else row
