"""Where things stand on the page of the context view, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.text import Text

from keen_tui.domain.reports import POLICIES, ContextPart, ContextReport, PartSize
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.widgets.row_widget import cut_row
from keen_tui.text.units import tokens

TEXT_EDGE = 4
RIGHT_MARGIN = 2
WIDE_FROM = 100
"""Columns of the terminal from which all policies stand side by side."""

_BETWEEN = 4
_CELLS = ((200, 28), (160, 24), (120, 18), (100, 16), (70, 20), (0, 16))


class Columns(Struct, frozen=True):
    """One column a policy at the right, `cells` wide; the left part of a row ends at `left_end`.

    `policies` are indices into `POLICIES`: all of them, or in a narrow terminal the chosen one.
    """

    policies: tuple[int, ...]
    cells: int
    left_end: int

    def row(self, left: Text, figures: Sequence[Text], marks: Sequence[Text] = (), more: str = "…") -> Text:
        """`left`, then the figures in their columns; `marks` are signs of one cell before them."""
        row = cut_row(left, self.left_end, more).copy()
        row.pad_right(max(self.left_end - row.cell_len, 0))
        for place, figure in enumerate(figures):
            mark = marks[place] if place < len(marks) else Text(" ")
            row = Text.assemble(row, "  ", mark, " ", figure, " " * max(self.cells - figure.cell_len, 0))
        return row


def columns_of(width: int, chosen: int) -> Columns:
    """The columns of a page that is `width` cells wide, with the policy `chosen` shown below."""
    wide = width >= WIDE_FROM
    policies = tuple(range(len(POLICIES))) if wide else (chosen,)
    cells = next(cells for least, cells in _CELLS if width >= least)
    left_end = width - RIGHT_MARGIN - len(policies) * (cells + _BETWEEN)
    return Columns(policies, cells, max(left_end, 0))


class PolicyView(Struct, frozen=True):
    """A report with the policy that is looked at, `chosen`, as an index into `POLICIES`.

    `largest` is the scale of all rows: the tokens of the largest part under any policy.
    """

    report: ContextReport
    chosen: int
    largest: int

    @classmethod
    def of(cls, report: ContextReport, chosen: int) -> PolicyView:
        """A view of this report."""
        most = max((size.tokens for part in report.parts for size in part.sizes), default=0)
        return cls(report, chosen, most)

    @property
    def in_use(self) -> int:
        """The policy of the session."""
        return POLICIES.index(self.report.policy)

    def size(self, part: ContextPart) -> PartSize:
        """Returns the size of a part under the chosen policy."""
        return part.sizes[self.chosen]


def thousands(count: int, glyphs: Glyphs) -> str:
    """Tokens in a column: `10.4k`, `0.1k`, `<0.1k`, from a hundred thousand `200k`, a dash for none."""
    if not count:
        return glyphs.none
    if count < 50:
        return "<0.1k"
    return f"{count / 1000:.1f}k" if count < 99_950 else tokens(count)


def share(part: int, whole: int) -> str:
    """`5 %`, `<1 %`."""
    percent = round(100 * part / whole)
    return f"{percent} %" if percent or not part else "<1 %"


def saving(count: int, largest: int, glyphs: Glyphs) -> str:
    """How much less than the largest: `−61 %`, nothing where it is as much."""
    percent = round(100 * (1 - count / largest)) if largest else 0
    return f"{glyphs.minus}{percent} %" if percent > 0 else ""
