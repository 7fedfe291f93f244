"""The first screen: the brand, and a composer that takes typed text. The workspace replaces it."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import RIGHT_MARGIN, TEXT_EDGE, Layout, layout_of
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, wrapped

BRAND = "keen"
_CURSOR = Style(reverse=True)


class _Brand(RowWidget):
    def rows(self, width: int, height: int) -> list[Text]:
        return [indented(Text(BRAND, self.look("accent", bold=True)), 2)]


class _Written(RowWidget):
    """Looks like the composer, and shows a text with the cursor at its end. An editor takes as long to load
    and to style as all the rest of the entrance."""

    text = ""
    is_flat = False

    def write(self, text: str) -> None:
        """Show this text."""
        self.text = text
        self.changed(layout=True)

    def rows(self, width: int, height: int) -> list[Text]:
        bar = Text(self.glyphs.bar, self.look("accent"))
        sign = Text.assemble(" ", (self.glyphs.prompt, self.look("accent", bold=True)), " ")
        edge = Text(" " * (TEXT_EDGE - 1))
        room = width - TEXT_EDGE - RIGHT_MARGIN - 2  # the editor keeps a column, and one for the cursor
        first, *more = wrapped(self.text, room, Style.null())
        rows = [Text.assemble(bar, sign, first), *(Text.assemble(bar, edge, row) for row in more)]
        rows[-1].append(" ", _CURSOR)
        return rows if self.is_flat else [bar, *rows, bar]


class Entrance(KeenScreen[None]):
    """The screen for the moment in which the workspace is made.

    Its composer shows letters at once, until another key is typed, for example Enter. It acts on nothing: all
    keys take effect in the workspace.
    """

    def __init__(self, styles: Styles, glyphs: Glyphs, sidebar_wanted: int = 0) -> None:
        super().__init__()
        self._sidebar_wanted = sidebar_wanted
        self._echoes = True
        self._brand = _Brand(styles, glyphs, id="brand")
        self._composer = _Written(styles, glyphs, id="composer")
        self._shape: Layout | None = None

    def compose(self) -> ComposeResult:
        self._place(self.app.size)
        yield self._brand
        yield self._composer

    def echo(self, typed: events.Key | events.Paste) -> None:
        """Show what was typed, as far as a composer alone can know what that does."""
        written = self._composer.text
        if not self._echoes or isinstance(typed, events.Paste):
            self._echoes = False
        elif typed.is_printable and typed.character:
            self._composer.write(written + typed.character)
        elif typed.key == "backspace":
            self._composer.write(written[:-1])
        else:
            self._echoes = False

    def on_resize(self, event: events.Resize) -> None:
        self._place(event.size)

    def _place(self, size: Size) -> None:
        """Everything stands where the workspace will have it."""
        shape = layout_of(size, self._sidebar_wanted)
        if shape == self._shape:
            return
        self._shape = shape
        self._brand.display = not shape.low
        self._composer.display = not shape.tiny
        self._composer.is_flat = shape.flat
        self._composer.styles.margin = (0, shape.sidebar_columns if shape.wide else 0, 1, 0)
