"""What the session has used: tokens and dollars, turn by turn and in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from keen_tui.domain.spent import Spent
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import dollars

_EDGE: Final = 4
_CELLS: Final = (12, 12, 10, 11)
"""Columns of what was sent, what of it came from the cache, what was received, and the cost."""
_HEADS: Final = ("sent", "cached", "received", "cost")
_AROUND: Final = 9
"""Rows that hold no turn: title, heads, rule, rest, total, keys, and what is blank between them."""


class UsageRows(RowWidget):
    """The table; it scrolls between its heads and its total."""

    def __init__(self, styles: Styles, glyphs: Glyphs, state: UiState) -> None:
        super().__init__(styles, glyphs, id="usage-rows")
        self._state = state
        self._first = len(state.turns)
        self._room = 1

    def show(self, state: UiState) -> None:
        """Draw this state."""
        self._state = state
        self.changed()

    def scroll(self, rows: int) -> None:
        """Move by so many rows."""
        self._first += rows
        self.changed()

    def scroll_page(self, pages: int) -> None:
        """Move by so many pages."""
        self.scroll(pages * max(self._room - 1, 1))

    def rows(self, width: int, height: int) -> list[Text]:
        look, turns = self.look, self._state.turns
        self._room = max(height - _AROUND, 1)
        self._first = max(min(self._first, len(turns) - self._room), 0)
        seen = [turns[place] for place in range(self._first, min(self._first + self._room, len(turns)))]
        title = Text("Usage", look("text", bold=True))
        count = Text(self._place(len(seen)), look("dim"))
        head = self._line("turn", _HEADS, width, "dim")
        rule = Text(self.glyphs.rule * (width - 2 * _EDGE), look("edge"))
        rows = [Text(), spread(indented(title, 2), count, width - _EDGE), Text(), head, indented(rule, _EDGE)]
        rows += [self._turn(turn, width) for turn in seen]
        rows += self._summaries(turns, width)
        rows += [
            Text(),
            self._line("all", _figures(self._state.spent, self.glyphs), width, "text", bold=True),
        ]
        keys = (self.key_hint(f"{self.glyphs.up}{self.glyphs.down}", "scroll"), self.key_hint("esc", "back"))
        return [*rows, *[Text()] * (height - len(rows) - 2), indented(self.fact(*keys), 2)]

    def _place(self, seen: int) -> str:
        turns = len(self._state.turns)
        if not turns:
            return "nothing yet"
        return f"turns {self._first + 1} to {self._first + seen} of {turns:,}" if seen < turns else ""

    def _turn(self, turn: TurnRow, width: int) -> Text:
        name = f"{turn.turn}".rjust(len(str(len(self._state.turns)))) + f"   {clean(turn.title)}"
        return self._line(name, _figures(turn.spent, self.glyphs), width, "soft")

    def _summaries(self, turns: Sequence[TurnRow], width: int) -> list[Text]:
        """What went into summaries of the conversation and its title, which belong to no turn."""
        rest = self._state.spent.without(turn.spent for turn in turns)
        return [self._line("summaries, title", _figures(rest, self.glyphs), width, "soft")] if rest else []

    def _line(self, name: str, figures: Sequence[str], width: int, role: str, *, bold: bool = False) -> Text:
        style = self.look(role, bold=bold)
        figures_row = Text(
            "".join(each.rjust(cells) for each, cells in zip(figures, _CELLS, strict=True)), style
        )
        room = width - 2 * _EDGE - figures_row.cell_len - 2
        left = cut_row(Text(name, style), max(room, 0), self.glyphs.more)
        return indented(spread(left, figures_row, width - 2 * _EDGE, self.glyphs.more), _EDGE)


class UsageScreen(Screen[None]):
    """Covers the workspace until esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "scroll(-1000000)", show=False),
        Binding("end", "scroll(1000000)", show=False),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs, state: UiState) -> None:
        super().__init__()
        self.table = UsageRows(styles, glyphs, state)

    def compose(self) -> ComposeResult:
        yield self.table

    def action_scroll(self, rows: int) -> None:
        """Move by so many rows."""
        self.table.scroll(rows)

    def action_page(self, pages: int) -> None:
        """Move by so many pages."""
        self.table.scroll_page(pages)


def _figures(spent: Spent, glyphs: Glyphs) -> tuple[str, str, str, str]:
    if not spent:
        return (glyphs.none,) * 4
    cost = "unknown" if spent.cost is None else dollars(spent.cost)
    return f"{spent.input_tokens:,}", f"{spent.cached_tokens:,}", f"{spent.output_tokens:,}", cost
