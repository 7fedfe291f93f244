"""The usage of the session, turn by turn, beside the size of the whole history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct
from rich.text import Text

from keen_tui.domain.spent import Spent
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import EDGE, LOW, PageScreen
from keen_tui.frontends.tui.pages.row_scroll import RowScroll
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.widgets.row_widget import GAP, cut_row, indented, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.spending import CACHED, LEFT_OUT, NEW, bar_cells, whole_history
from keen_tui.text.units import dollars, duration, tokens

_EDGE: Final = 4
_BEFORE_BAR: Final = 2
_LEAST_BAR: Final = 8


class FigureColumn(Struct, frozen=True):
    """A column of figures at the right, `cells` wide under its `head`."""

    figure: Literal["new", "cached", "whole", "received", "cost", "time"]
    head: str
    cells: int


class UsageLayout(Struct, frozen=True):
    """How the page is divided in terminals of at least `least` columns. `exact`: tokens are written out, not
    in thousands. `titled` are the cells for the title of a turn."""

    least: int
    columns: tuple[FigureColumn, ...]
    exact: bool = False
    titled: int = 0


_TOKENS = (
    FigureColumn("new", "new", 8),
    FigureColumn("cached", "cached", 8),
    FigureColumn("whole", "whole", 8),
)
_COST, _TIME = FigureColumn("cost", "cost", 9), FigureColumn("time", "time", 9)
_RECEIVED = FigureColumn("received", "received", 10)
_WIDE = (
    FigureColumn("new", "new", 10),
    FigureColumn("cached", "from cache", 12),
    FigureColumn("whole", "whole history", 15),
)
_LAYOUTS = (
    UsageLayout(116, (*_WIDE, _RECEIVED, _COST, _TIME), exact=True, titled=20),
    UsageLayout(96, (*_TOKENS, _RECEIVED, _COST, _TIME), titled=16),
    UsageLayout(76, (*_TOKENS, _RECEIVED, _COST, _TIME)),
    UsageLayout(0, (*_TOKENS, _COST)),
)


class UsageRows(RowScroll):
    """A row a turn, with a bar; the turns scroll between their heads and the total, above the keys."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, state: UiState, key_row: Callable[[int], Text]
    ) -> None:
        super().__init__(styles, glyphs, id="usage-rows")
        self._state = state
        self._key_row = key_row
        self._layout = _LAYOUTS[0]
        self._most = 0
        self.move(len(state.turns))

    def seen(self, width: int, height: int) -> list[Text]:
        turns = self._state.turns
        self._layout = next(layout for layout in _LAYOUTS if width >= layout.least)
        self._most = max((turn.spent.whole_tokens for turn in turns), default=0)
        blank = [Text()] if height >= LOW else []
        head, foot = self._head(width, blank), self._foot(width, blank)
        seen = self.in_view(turns, height - len(head) - len(foot))
        head[len(blank)] = self._title(len(seen), width)
        rows = [*head, *(self._turn(turn, width) for turn in seen), *foot[:-1]]
        return [*rows, *[Text()] * (height - len(rows) - 1), foot[-1]]

    def _head(self, width: int, blank: list[Text]) -> list[Text]:
        heads = self._figures_row([column.head for column in self._layout.columns], "dim")
        rule = Text(self.glyphs.rule * (width - 2 * _EDGE), self.look("edge"))
        first = spread(Text("turn", self.look("dim")), heads, width - 2 * _EDGE, self.glyphs.more)
        return [*blank, Text(), *blank, indented(first, _EDGE), indented(rule, _EDGE)]

    def _foot(self, width: int, blank: list[Text]) -> list[Text]:
        state, look = self._state, self.look
        everything = Text("all", look("text", bold=True))
        inner = width - 2 * _EDGE
        words = whole_history(state.spent) if state.spent else ""
        whole = wrapped(words, inner, look("soft"))
        if not blank:
            whole = [cut_row(Text(words, look("soft")), inner, self.glyphs.more)]
        return [
            *self._summaries(state.turns, width),
            *blank,
            self._line(everything, self._figures(state.spent), width, "text", bold=True),
            *(indented(row, _EDGE) for row in whole),
            *blank,
            indented(cut_row(self._legend(), inner, self.glyphs.more), _EDGE),
            indented(self._key_row(width - EDGE), EDGE),
        ]

    def _title(self, seen: int, width: int) -> Text:
        title = Text("Usage", self.look("text", bold=True))
        place = Text(self._place(seen), self.look("dim"))
        return spread(indented(title, 2), place, width - _EDGE, self.glyphs.more)

    def _place(self, seen: int) -> str:
        turns = len(self._state.turns)
        if not turns:
            return "nothing yet"
        return f"turns {self.first + 1} to {self.first + seen} of {turns:,}" if seen < turns else ""

    def _turn(self, turn: TurnRow, width: int) -> Text:
        number = Text(f"{turn.turn}".rjust(self._digits), self.look("soft"))
        title = cut_row(Text(clean(turn.title), self.look("soft")), self._layout.titled, self.glyphs.more)
        left = Text.assemble(number, GAP, title) if self._layout.titled else number
        left.pad_right(max(self._bar_at - left.cell_len, 0))
        figures = self._figures(turn.spent, duration(turn.seconds) if turn.seconds else "")
        return self._line(Text.assemble(left, self._bar(turn.spent, width)), figures, width, "soft")

    def _summaries(self, turns: Sequence[TurnRow], width: int) -> list[Text]:
        """Returns the row for usage outside of turns: summaries of the conversation, its title, and
        reviews."""
        rest = self._state.spent.without(turn.spent for turn in turns)
        if not rest:
            return []
        name = Text("outside turns", self.look("soft"))
        return [self._line(name, self._figures(rest), width, "soft")]

    def _bar(self, spent: Spent, width: int) -> Text:
        """Returns a bar with the tokens sent and those of the whole history, on the scale of the largest
        turn. The three parts differ in their glyphs, not only in colour."""
        bar = bar_cells(spent, self._most, self._bar_cells(width))
        return self._in_parts(
            self.glyphs.meter_full * bar.new,
            self.glyphs.meter_cached * bar.cached,
            self.glyphs.meter_track * bar.left_out,
        )

    def _legend(self) -> Text:
        glyphs = self.glyphs
        signs = (glyphs.meter_full, glyphs.meter_cached, glyphs.meter_track)
        named = (
            Text.assemble(self._in_parts(*(sign * 2 * (place == at) for at, sign in enumerate(signs))), " ", (
                words, self.look("dim"),
            ))
            for place, words in enumerate((NEW, CACHED, LEFT_OUT))
        )  # fmt: skip
        return self.fact(*named)

    def _in_parts(self, new: str, cached: str, left_out: str) -> Text:
        look = self.look
        return Text.assemble((new, look("accent")), (cached, look("soft")), (left_out, look("dim")))

    @property
    def _digits(self) -> int:
        return len(str(len(self._state.turns)))

    @property
    def _bar_at(self) -> int:
        """Where the bars begin, behind number and title."""
        titled = len(GAP) + self._layout.titled if self._layout.titled else 0
        return self._digits + titled + _BEFORE_BAR

    def _bar_cells(self, width: int) -> int:
        figures = sum(column.cells for column in self._layout.columns)
        return max(width - 2 * _EDGE - self._bar_at - figures - 1, _LEAST_BAR)

    def _figures(self, spent: Spent, time: str = "") -> list[str]:
        """The figures of a row, in the order of the columns."""
        count = "{:,}".format if self._layout.exact else tokens
        figures = {
            "new": count(spent.new_tokens),
            "cached": count(spent.cached_tokens),
            "whole": count(spent.whole_tokens),
            "received": count(spent.output_tokens),
            "cost": "unknown" if spent.cost is None else dollars(spent.cost),
        }
        shown = figures if spent else dict.fromkeys(figures, self.glyphs.none)
        return [{**shown, "time": time}[column.figure] for column in self._layout.columns]

    def _figures_row(self, figures: Sequence[str], role: str, *, bold: bool = False) -> Text:
        cells = (column.cells for column in self._layout.columns)
        text = "".join(figure.rjust(room) for figure, room in zip(figures, cells, strict=True))
        return Text(text, self.look(role, bold=bold))

    def _line(self, left: Text, figures: Sequence[str], width: int, role: str, *, bold: bool = False) -> Text:
        right = self._figures_row(figures, role, bold=bold)
        return indented(spread(left, right, width - 2 * _EDGE, self.glyphs.more), _EDGE)


class UsageScreen(PageScreen[bool]):
    """Covers the workspace until esc. Its result is true if the next request is wanted instead."""

    def __init__(self, styles: Styles, glyphs: Glyphs, state: UiState) -> None:
        super().__init__(styles, glyphs)
        self.body = UsageRows(styles, glyphs, state, self.key_row)
        self.parts = (self.body,)

    def keys(self) -> Sequence[Key]:
        return (
            Key("up,down", "scroll"),
            Key("page_usage", "next request", lambda: self.dismiss(True)),
            Key("escape", "back", self.leave, "q"),
        )
