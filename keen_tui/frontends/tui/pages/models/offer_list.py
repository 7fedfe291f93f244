"""The list of the picker: one row a model, under its provider."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.domain.models import ModelInfo, Price
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.models.offers import (
    ANOTHER_SERVER,
    KeyWanted,
    Offer,
    OfferLine,
    ProviderHeading,
    ServerWanted,
    line_key,
)
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import tokens

_TITLE_CELLS = 26
_ID_CELLS = 31
_WINDOW_CELLS = 7
_PRICE_CELLS = 23
_IN_CELLS = 11
_WIDE = 106
_LOW = 6
"""Rows of the list up to which nothing is given to marks and margins."""


class OfferList(RowWidget):
    """Shows the lines around the chosen one. The chosen line stays the chosen one when lines come or go."""

    class Clicked(Message):
        """A line was chosen with the mouse."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="offers")
        self._lines: list[OfferLine] = []
        self._rows: list[tuple[OfferLine | None, Text]] = []
        self._place = 0
        self._by_hand = False
        self._first = 0
        self._kept_at: int | None = None
        self._current: tuple[str, str] | None = None
        self._empty = ""

    @property
    def chosen(self) -> OfferLine | None:
        """The line that enter takes."""
        return self._lines[self._place] if self._lines and self._can(self._place) else None

    def show(
        self, lines: Sequence[OfferLine], current: ModelInfo | None, *, to_top: bool = False, empty: str
    ) -> None:
        """Draw these lines, or `empty` where there are none; `current` is the model in use.

        `to_top` chooses the first that can be. Else the chosen line stays, on the row where it is; as long
        as nobody has chosen one, the model in use is chosen once it is there.
        """
        self._empty = empty
        before = line_key(self.chosen) if self.chosen else None
        if (drawn_at := self._row_of_chosen()) is not None:
            self._kept_at = drawn_at - self._first
        self._current = (current.provider, current.id) if current else None
        self._lines = list(lines)
        keys = [line_key(line) for line in self._lines]
        self._by_hand = self._by_hand or to_top
        wanted = before if self._by_hand or self._current not in keys else self._current
        if to_top or wanted not in keys:
            self._place = next((place for place in range(len(keys)) if self._can(place)), 0)
            self._kept_at = None
        else:
            self._place = keys.index(wanted)
        self.changed()

    def move(self, step: int) -> None:
        """Choose a line further up or down; headings are passed over."""
        places = [place for place in range(len(self._lines)) if self._can(place)]
        if places:
            now = places.index(self._place) if self._place in places else 0
            self._place = places[min(max(now + step, 0), len(places) - 1)]
            self._by_hand = True
            self._kept_at = None
            self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        self._rows = [row for place in range(len(self._lines)) for row in self._drawn_line(place, width)]
        if not self._rows:
            return [Text()] * 2 + [indented(Text(self._empty, self.look("soft")), 4)]
        room = height - 1
        self._first = self._first_in_view(room)
        view = [row for _, row in self._rows[self._first : self._first + room]]
        above, below = self._models_in(0, self._first), self._models_in(self._first + room)
        if below and height > _LOW:
            mark = Text(f"{self.glyphs.down} {below} below", self.look("soft"))
            view[-1] = spread(view[-1], mark, width - 2, self.glyphs.more)
        return [self._head(width, above), *view]

    def _first_in_view(self, room: int) -> int:
        """The row to begin with: the chosen one is in view, and where it was when lines came or went."""
        at = self._row_of_chosen() or 0
        margin = 2 if room >= _LOW else 0
        first = min(self._first, max(at - margin, 0))
        first = max(first, at - room + 1 + margin)
        if self._kept_at is not None:
            first, self._kept_at = at - min(self._kept_at, room - 1), None
        if not self._by_hand and at < room - 1:
            return 0  # nobody has moved yet: what the servers say above it is in view
        return max(min(first, len(self._rows) - room), 0)

    def _row_of_chosen(self) -> int | None:
        """The row of the chosen line; None when these lines have not been drawn yet."""
        chosen = self._lines[self._place] if self._lines else None
        return next((row for row, (line, _) in enumerate(self._rows) if line and line is chosen), None)

    def _models_in(self, first: int, last: int | None = None) -> int:
        return sum(isinstance(line, Offer | KeyWanted) for line, _ in self._rows[first:last])

    def on_click(self, event: events.Click) -> None:
        row = self._first + event.y - 1
        line = self._rows[row][0] if 0 <= row < len(self._rows) else None
        if line in self._lines and self._can(self._lines.index(line)):
            self._place = self._lines.index(line)
            self._by_hand = True
            self.changed()
            self.post_message(self.Clicked())

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)

    def _can(self, place: int) -> bool:
        return not isinstance(self._lines[place], ProviderHeading)

    def _drawn_line(self, place: int, width: int) -> list[tuple[OfferLine | None, Text]]:
        line = self._lines[place]
        match line:
            case ProviderHeading():
                above = [(None, Text())] if place else []
                return [*above, *self._heading(line, width)]
            case Offer():
                row = self._offer(line, width)
                if line.typed and place and not _is_typed(self._lines[place - 1]):
                    return [(None, Text()), (line, self._marked_if_chosen(row, place, width))]
            case KeyWanted(source=source):
                variables = " or ".join(source.provider.key_variables)
                words = f"no key in {variables}; enter one" if variables else "enter a key"
                row = indented(Text(words, self.look("dim")), 4)
            case ServerWanted(address=address):
                words = (
                    f"use the server at {clean(address)}" if address else ANOTHER_SERVER + self.glyphs.more
                )
                row = indented(Text(words, self.look("soft")), 4)
                return [(None, Text())] * bool(place) + [(line, self._marked_if_chosen(row, place, width))]
        return [(line, self._marked_if_chosen(row, place, width))]

    def _head(self, width: int, above: int) -> Text:
        """Returns the head of the list: names for its columns, and the number of models out of view above."""
        before = 4 + _TITLE_CELLS + (_ID_CELLS if width >= _WIDE else 0) + _WINDOW_CELLS - 2
        names = Text("context".rjust(before) + "  $ per million tokens", self.look("dim"))
        mark = Text(f"{self.glyphs.up} {above} above", self.look("soft")) if above else Text()
        return spread(names, mark, width - 2, self.glyphs.more)

    def _heading(self, line: ProviderHeading, width: int) -> list[tuple[OfferLine | None, Text]]:
        """The provider with what is known about it. A note that is too long is below, whole."""
        source, look = line.source, self.look
        provider, note = source.provider, clean(source.note)
        where = provider.base_url if provider.local or provider.by_address else ""
        hidden = f"{line.hidden} more, type to find them" if line.hidden else ""
        known = [text for text in (where, source.key_source, hidden) if text]
        name = Text(clean(provider.name), look("soft", bold=True))
        facts = [Text(clean(text), look("dim")) for text in known]
        row = self.fact(name, *facts, Text(note, look("dim")))
        if row.cell_len <= width - 4:
            return [(line, indented(row, 2))]
        below = wrapped(note, width - 6, look("soft")) if note else []
        head = cut_row(self.fact(name, *facts), width - 4, self.glyphs.more)
        return [(line, indented(head, 2)), *((None, indented(each, 4)) for each in below)]

    def _offer(self, line: Offer, width: int) -> Text:
        model, look = line.model, self.look
        mark = self.glyphs.running if line_key(line) == self._current else " "
        if line.typed:
            words = f"use {clean(model.id)} with {clean(line.source.provider.name)}"
            return Text.assemble("    ", (words, look("text")))
        title = cut(clean(model.title), _TITLE_CELLS - 1, self.glyphs.more).ljust(_TITLE_CELLS)
        row = Text.assemble(
            "  ", (mark, look("accent")), " ", (title, look("text")),
        )  # fmt: skip
        if width >= _WIDE:
            name = clean(model.id) if model.id != model.title else ""
            row.append(cut(name, _ID_CELLS - 1, self.glyphs.more).ljust(_ID_CELLS), look("dim"))
        window = tokens(model.context_window) if model.context_window else "–"
        row.append(window.rjust(_WINDOW_CELLS - 2) + "  ", look("soft" if model.context_window else "dim"))
        price = "" if line.source.provider.local else _price(model.price)
        row.append(price, look("soft" if model.price else "dim"))
        reasons = " " * (_PRICE_CELLS - len(price)) + "reasons" if model.reasons else ""
        fits = row.cell_len + len(reasons) <= width - 2
        return row.append(reasons if fits else "", look("dim"))

    def _marked_if_chosen(self, row: Text, place: int, width: int) -> Text:
        return self._marked(row, width) if place == self._place else cut_row(row, width, self.glyphs.more)

    def _marked(self, row: Text, width: int) -> Text:
        text = cut_row(row, width - 2, self.glyphs.more)
        text.pad_right(max(width - 2 - text.cell_len, 0))
        plain = text.plain
        bar = (self.glyphs.bar, self.look("accent", on="raised"))
        return Text.assemble(bar, (plain[1:], self.look("text", on="raised", bold=True)))


def _is_typed(line: OfferLine) -> bool:
    return isinstance(line, Offer) and line.typed


def _price(price: Price | None) -> str:
    if price is None:
        return "price unknown"
    return f"${_dollars(price.input)} in".ljust(_IN_CELLS) + f"${_dollars(price.output)} out"


def _dollars(amount: float) -> str:
    """`4`, `0.10`, `1.25`, `0.125`."""
    return f"{amount:g}" if amount == int(amount) or round(amount, 2) != amount else f"{amount:.2f}"


def effort_words(model: ModelInfo, effort: str, look: Styles, glyphs: Glyphs) -> Text:
    """The efforts of a model with the chosen one marked; empty for models that have none."""
    if not model.efforts:
        return Text()
    words = Text("effort  ", look("dim"))
    for number, one in enumerate(("", *model.efforts)):
        chosen = one == effort
        words.append(GAP if number else "", look("dim"))
        words.append(f"{glyphs.prompt} " if chosen else "", look("accent"))
        words.append(one or "default", look("text" if chosen else "dim", bold=chosen))
    return words
