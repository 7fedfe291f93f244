"""The list of completions for the word at the cursor, over the end of the transcript."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.completing import Completion
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean

_MOST_ROWS = 8
_ROOMY = 20
_LABEL_CELLS = 40
_LEAST_CELLS = 20
_EDGE = 2


class CompletionList(RowWidget):
    """Hidden while it has nothing to offer. The focus stays in the prompt, which hands it its keys."""

    class Taken(Message):
        """One was clicked."""

        def __init__(self, completion: Completion) -> None:
            super().__init__()
            self.completion = completion

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="completions")
        self._found: Sequence[Completion] = ()
        self._runs = False
        self._chosen = 0
        self._first = 0
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether there is something to choose."""
        return bool(self._found)

    @property
    def chosen(self) -> Completion | None:
        """The completion that enter inserts, None if the list is empty."""
        return self._found[self._chosen] if self._found else None

    def show(self, found: Sequence[Completion], *, runs: bool = False) -> None:
        """Offer these, the best first; none hides it. `runs`: enter does at once what is whole."""
        found, self._runs = tuple(found), runs
        if found == self._found:
            return
        self._found = found
        self._chosen = self._first = 0
        self.display = bool(found)
        self.styles.height = self._above + self._visible + 1
        self.changed()

    def close(self) -> bool:
        """Hide it; False where it was hidden."""
        was_open = self.is_open
        self.show(())
        return was_open

    def move(self, step: int) -> None:
        """Choose the next one, or the one before; behind the last comes the first."""
        self._chosen = (self._chosen + step) % len(self._found)
        self._first = min(max(self._first, self._chosen - self._visible + 1), self._chosen)
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        shown = self._found[self._first : self._first + self._visible]
        widest = max((Text(clean(each.label)).cell_len for each in shown), default=0)
        column = min(widest, _LABEL_CELLS, max(width // 3, _LEAST_CELLS))
        rows = [
            self._row(completion, place, column, width) for place, completion in enumerate(shown, self._first)
        ]
        return [*[Text()] * self._above, *rows, self._foot(width)]

    def on_click(self, event: events.Click) -> None:
        row = event.y - self._above
        place = self._first + row
        if 0 <= row < self._visible:
            self._chosen = place
            self.post_message(self.Taken(self._found[place]))

    @property
    def _above(self) -> int:
        """Blank rows that set it off from the transcript."""
        return 1 if self.app.size.height >= _ROOMY else 0

    @property
    def _visible(self) -> int:
        return min(len(self._found), _MOST_ROWS, max(self.app.size.height // 3, 2))

    def _row(self, completion: Completion, place: int, column: int, width: int) -> Text:
        is_chosen = place == self._chosen
        on = "raised" if is_chosen else None
        mark = f"{self.glyphs.prompt} " if is_chosen else "  "
        label = cut_row(Text(clean(completion.label), self.look("text", on=on, bold=is_chosen)), column)
        gap = " " * (column - label.cell_len) + GAP if completion.detail else ""
        detail = (clean(completion.detail), self.look("dim" if not is_chosen else "soft", on=on))
        row = Text.assemble((mark, self.look("accent", on=on, bold=True)), label, gap, detail)
        row = spread(row, Text(" "), width - _EDGE, self.glyphs.more)
        return indented(Text.assemble(row, style=self.look("text", on=on)), _EDGE)

    def _foot(self, width: int) -> Text:
        hidden = len(self._found) - self._visible
        more = Text(f"{hidden} more" if hidden > 0 else "", self.look("dim"))
        runs = self._runs and self.chosen and self.chosen.is_whole
        enter = self.key_hint("enter", "run" if runs else "insert it")
        tab = self.key_hint("tab", "insert it") if runs else Text()
        keys = self.fact(enter, tab, self.key_hint("esc", "close"))
        return indented(spread(keys, more, width - 2 * _EDGE - 2, self.glyphs.more), 2 * _EDGE)
