"""The diff of one file: rows that scroll."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from keen_tui.frontends.shared.changes import ShownFile
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.terminal.strip_widget import filled_strip
from keen_tui.frontends.tui.tool_views.diff import draw_diff
from keen_tui.frontends.tui.tool_views.side_by_side import draw_side_by_side
from keen_tui.frontends.tui.tool_views.text import draw_text

_GROUND = "panel"


class DiffView(ScrollView, can_focus=False):
    """Shows one file at a time, from its first change on. Each is drawn once a width."""

    ALLOW_SELECT = False

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(id="diff")
        self._look, self._glyphs = styles, glyphs
        self._file: ShownFile | None = None
        self._side_by_side = False
        self._lines: Sequence[Line] = ()
        self._drawn: dict[tuple[str, int, bool], Sequence[Line]] = {}

    def on_mount(self) -> None:
        background.listen(self._errand_done)

    def on_unmount(self) -> None:
        background.leave(self._errand_done)

    def show(self, file: ShownFile, *, side_by_side: bool) -> None:
        """Show this file; it is scrolled to its beginning when it is another one."""
        another = file is not self._file
        self._file, self._side_by_side = file, side_by_side
        self._lay_out()
        if another:
            self.scroll_home(animate=False)

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""
        self._look, self._glyphs = styles, glyphs
        self._drawn.clear()
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        segments = self._lines[row].segments if row < len(self._lines) else ()
        return filled_strip(segments, self._width, self.rich_style)

    def _errand_done(self) -> None:
        """Colours were worked out: what is seen is drawn with them."""
        for lines in self._drawn.values():
            if isinstance(lines, LazyLines):
                lines.forget()
        self.refresh()

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _lay_out(self) -> None:
        if self._file is None or self._width <= 0:
            return
        key = (self._file.path, self._width, self._side_by_side)
        if key not in self._drawn:
            self._drawn[key] = self._draw(self._file)
        self._lines = self._drawn[key]
        self.virtual_size = Size(self._width, len(self._lines))
        self.refresh()

    def _draw(self, file: ShownFile) -> Sequence[Line]:
        if file.diff is None:
            return draw_text(file.instead, self._width, self._look, _GROUND)
        draw = draw_side_by_side if self._side_by_side else draw_diff
        return draw(file.diff, self._width, self._look, self._glyphs, _GROUND)
