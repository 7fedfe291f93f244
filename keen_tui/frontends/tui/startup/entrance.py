"""What is there first: the brand, and a composer that takes what is typed. The workspace takes its place."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import Screen

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import Layout, layout_of
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.composer import Composer
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented

BRAND = "keen"


class _Brand(RowWidget):
    def rows(self, width: int, height: int) -> list[Text]:
        return [indented(Text(BRAND, self.look("accent", bold=True)), 2)]


class Entrance(Screen[None]):
    """The screen for the moment in which the workspace is made.

    Its composer shows letters at once, until another key is typed, for example Enter. It acts on nothing: all
    keys take effect in the workspace.
    """

    AUTO_FOCUS = "#prompt"

    def __init__(self, styles: Styles, glyphs: Glyphs, sidebar_wanted: int = 0) -> None:
        super().__init__()
        self._sidebar_wanted = sidebar_wanted
        self._echoes = True
        self._brand = _Brand(styles, glyphs, id="brand")
        self._composer = Composer(styles, glyphs)
        self._shape: Layout | None = None

    def compose(self) -> ComposeResult:
        self._place(self.app.size)
        yield self._brand
        yield self._composer

    def echo(self, typed: events.Key | events.Paste) -> None:
        """Show what was typed, as far as a composer alone can know what that does."""
        prompt = self._composer.prompt
        if not self._echoes or isinstance(typed, events.Paste):
            self._echoes = False
        elif typed.is_printable and typed.character:
            prompt.insert(typed.character)
        elif typed.key == "backspace":
            prompt.action_delete_left()
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
        self._composer.set_flat(shape.flat)
        self._composer.styles.margin = (0, shape.sidebar_columns if shape.wide else 0, 1, 0)
