"""The base of all panes that are drawn row by row: each row is a rich Text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.strip import Strip

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.rows.lru_cache import Recent
from keen_tui.frontends.tui.terminal.laid_out_once import LaidOutOnce
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget, filled_strip

GAP = "   "
"""The space between two facts in a row."""

BLANK: Final = Text()
"""The blank row. It is one object, so that its strip is used again. It MUST not be changed."""

_STRIPS_KEPT: Final = 128

Made = TypeVar("Made")


@runtime_checkable
class Themed(Protocol):
    """A widget that is drawn in the colours of a theme and with a set of glyphs."""

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""


class _MadeOfRow(NamedTuple, Generic[Made]):
    """The result for one row and one look."""

    row: Text
    look: Hashable
    made: Made


class MadeOfRows(Generic[Made]):
    """A cache of results for the rows of the newest picture. Most rows of the next picture are the same
    objects, so their results are found without comparing texts."""

    def __init__(self) -> None:
        self._newest: dict[tuple[int, int], _MadeOfRow[Made]] = {}

    def of(self, rows: Iterable[tuple[Text, Hashable]], make: Callable[[Text, Any], Made]) -> list[Made]:
        """Returns `make(row, look)` for each row of a picture. Most rows have the same look, so its hash,
        which is slow, is computed once."""
        before, self._newest = self._newest, {}
        hashes: dict[int, tuple[Hashable, int]] = {}
        picture: list[Made] = []
        for row, look in rows:
            hashed = hashes.get(id(look))
            if hashed is None:
                hashed = hashes[id(look)] = look, hash(look)
            key = id(row), hashed[1]
            kept = before.get(key)
            if kept is None or kept.row is not row or kept.look != look:
                kept = _MadeOfRow(row, look, make(row, look))
            self._newest[key] = kept
            picture.append(kept.made)
        return picture


class RowWidget(StripWidget, LaidOutOnce):
    """A widget that says its rows for a size and draws them on its own ground.

    Subclasses implement `rows` and call `changed` when what they would say has changed. A subclass whose
    height in the style sheet is `auto` is as high as its rows.
    """

    ALLOW_SELECT = False

    def __init__(self, styles: Styles, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.look = styles
        self.glyphs = glyphs
        self._strips: Recent[Hashable, Strip] = Recent(_STRIPS_KEPT)
        self._made = MadeOfRows[Strip]()

    def rows(self, width: int, height: int) -> list[Text]:
        """The rows from the top. `height` is 0 while the widget's own height is being found out."""
        raise NotImplementedError

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""
        self.look, self.glyphs = styles, glyphs
        self.changed()

    def changed(self, *, layout: bool = False) -> None:
        """Draw again; with `layout` the height may have changed too."""
        if layout:
            self.refresh(layout=True)
        else:
            self.refresh_changed()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(width, 0))

    def strips(self) -> Iterator[Strip]:
        width, height = self.size
        ground = self.rich_style
        rows = [*self.rows(width, height), *[BLANK] * height][:height]
        look = width, ground
        yield from self._made.of(
            ((row, look) for row in rows), lambda row, _: self._strip(row, width, ground)
        )

    def _strip(self, row: Text, width: int, ground: Style) -> Strip:
        """The row as a strip: the very same one for a row that says and looks the same."""
        key = (row.plain, row.style, tuple(row.spans), width, ground)
        strip = self._strips.get(key)
        if strip is None:
            strip = filled_strip(_segments(row), width, ground)
            self._strips.keep(key, strip)
        return strip

    def fact(self, *texts: Text) -> Text:
        """Facts side by side, those that are empty left out."""
        return join_facts(*texts)

    def hint(self, action_id: str, verb: str = "", role: str = "text") -> Text:
        """How to run an action, and in one verb what it does; empty where nothing runs it."""
        return action_hint(self.look, action_id, verb, role)

    def key_hint(self, key: str, verb: str, role: str = "text") -> Text:
        """A key, bold, and what it does, dim."""
        return key_hint(self.look, key, verb, role)


def key_hints(widget: RowWidget, keys: Iterable[tuple[str, str]], width: int) -> Text:
    """Keys and what they do, in at most `width` cells: the last but one goes first, as help names it and the
    last is the way back."""
    kept = list(keys)
    while True:
        row = widget.fact(*(widget.key_hint(key, verb) for key, verb in kept))
        if row.cell_len <= width or len(kept) < 3:
            return cut_row(row, width, widget.glyphs.more)
        del kept[-2]


class DrawnRows(RowWidget):
    """Rows that a function gives for a width and a height."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        draw: Callable[[int, int], list[Text]],
        *,
        id: str | None = None,
        classes: str = "",
    ) -> None:
        super().__init__(styles, glyphs, id=id)
        self.set_classes(classes)
        self._draw = draw

    def changed(self, *, layout: bool = False) -> None:
        """Draw again; a widget that is as high as its rows gets the height that they have now."""
        is_high = self.styles.is_auto_height and len(self.rows(self.size.width, 0)) != self.size.height
        super().changed(layout=layout or is_high)

    def rows(self, width: int, height: int) -> list[Text]:
        return self._draw(width, height)


def join_facts(*texts: Text) -> Text:
    """Facts side by side, those that are empty left out."""
    return Text(GAP).join(text for text in texts if text)


def action_hint(look: Styles, action_id: str, verb: str = "", role: str = "text") -> Text:
    """How to run an action, and in one verb what it does; empty where nothing runs it."""
    from keen_tui.frontends.shared.commands.actions import BY_ID  # noqa: PLC0415 - not before the first paint
    from keen_tui.frontends.tui.keys.keymap import shown  # noqa: PLC0415

    key = shown(action_id)
    return key_hint(look, key, verb or BY_ID[action_id].hint, role) if key else Text()


def key_hint(look: Styles, key: str, verb: str, role: str = "text") -> Text:
    """A key, bold, and what it does, dim."""
    return Text.assemble((key, look(role, bold=True)), " ", (verb, look("dim")))


def spread(left: Text, right: Text, width: int, more: str = "…") -> Text:
    """`left` and `right` at the two ends of `width` cells; `left` is cut where both have no room."""
    if not right:
        return cut_row(left, width, more)
    room = width - right.cell_len
    left = cut_row(left, max(room - 1, 0), more)
    return Text.assemble(left, " " * max(room - left.cell_len, 0), right)


def cut_row(row: Text, width: int, more: str = "…") -> Text:
    """`row` in at most `width` cells, with `more` where something was lost."""
    if row.cell_len <= width:
        return row
    cut = row.copy()
    cut.truncate(max(width - len(more), 0))
    cut.rstrip()
    if more:  # rich would remove everything
        cut.remove_suffix(more)
    return cut.append(more) if width > len(more) else cut


def indented(row: Text, cells: int) -> Text:
    """`row` moved right."""
    return Text.assemble(" " * cells, row)


def wrapped(text: str, width: int, style: Style) -> list[Text]:
    """Plain text broken into rows of at most `width` cells: between words, and in a word that is longer."""
    width = max(width, 2)
    rows: list[Text] = []
    for line in text.split("\n"):
        row = ""
        for word in line.split(" "):
            longer = f"{row} {word}" if row else word
            if row and cell_len(longer) > width:
                rows.append(Text(row, style))
                longer = word
            *full, row = [longer] if cell_len(longer) <= width else chop_cells(longer, width)
            rows += (Text(part, style) for part in full)
        rows.append(Text(row, style))
    return rows


def _segments(row: Text) -> Iterable[Segment]:
    """The row's text cut where its style changes."""
    plain = row.plain
    base = row.style if isinstance(row.style, Style) else Style.null()
    cuts = sorted({0, len(plain), *(edge for span in row.spans for edge in (span.start, span.end))})
    for start, end in pairwise(cuts):
        style = base
        for span in row.spans:
            if span.start <= start and end <= span.end and isinstance(span.style, Style):
                style += span.style
        if text := plain[start:end]:
            yield Segment(text, style)
