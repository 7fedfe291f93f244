"""The files that were changed, one row each, with what was added and removed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message

from keen_tui.frontends.shared.changes import ShownFile
from keen_tui.frontends.tui.look.cells import cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, spread

_FEWEST_ROWS = 3
_TEXT_EDGE = 4
_RIGHT_MARGIN = 2


class FileList(RowWidget):
    """Takes up to a quarter of the screen and scrolls within that; one file is always chosen."""

    class Moved(Message):
        """Another file was chosen."""

    def __init__(self, styles: Styles, glyphs: Glyphs, files: Sequence[ShownFile]) -> None:
        super().__init__(styles, glyphs, id="changed-files")
        self._files = files
        self._place = 0
        self._first = 0

    @property
    def chosen(self) -> ShownFile:
        """The file whose diff is shown."""
        return self._files[self._place]

    def move(self, step: int) -> None:
        """Choose a file further up or down."""
        place = min(max(self._place + step, 0), len(self._files) - 1)
        if place != self._place:
            self._place = place
            self.changed()
            self.post_message(self.Moved())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self._files), max(_FEWEST_ROWS, viewport.height // 4))

    def rows(self, width: int, height: int) -> list[Text]:
        self._first = min(self._first, self._place)
        self._first = max(self._first, self._place - height + 1)
        last = self._first + height
        rows = [self._row(place, width) for place in range(self._first, min(last, len(self._files)))]
        below = len(self._files) - last
        if below > 0 and height > 1:
            mark = Text(f"{self.glyphs.down} {below} below", self.look("soft"))
            rows[-1] = spread(rows[-1], mark, width - _RIGHT_MARGIN, self.glyphs.more)
        return rows

    def _row(self, place: int, width: int) -> Text:
        file, chosen = self._files[place], place == self._place
        on = "raised" if chosen else None
        look = self.look
        row = Text.assemble(
            (self.glyphs.bar if chosen else " ", look("accent", on=on)),
            " ",
            (self.glyphs.changed, look("soft", on=on)),
            " ",
            (self._path(file, width), look("text", on=on, bold=chosen)),
            GAP,
            (self._count("+", file, "added").rjust(self._count_cells("added")), look("add", on=on)),
            " ",
            (
                self._count(self.glyphs.minus, file, "removed").ljust(self._count_cells("removed")),
                look("del", on=on),
            ),
            (f"{GAP}{self._words(file)}", look("dim", on=on)),
            style=look("text", on=on) if on else "",
        )
        row = cut_row(row, width - _RIGHT_MARGIN, self.glyphs.more)
        if chosen:
            row.pad_right(max(width - _RIGHT_MARGIN - row.cell_len, 0))
        return row

    def _path(self, file: ShownFile, width: int) -> str:
        """The path in a column that is as wide as the longest, up to half of the row."""
        longest = max(Text(each.path).cell_len for each in self._files)
        cells = min(longest, (width - _TEXT_EDGE) // 2)
        path = Text(cut_path(file.path, cells, self.glyphs.more))
        path.pad_right(max(cells - path.cell_len, 0))
        return path.plain

    def _count(self, sign: str, file: ShownFile, what: str) -> str:
        return f"{sign}{getattr(file, what)}" if file.diff else ""

    def _count_cells(self, what: str) -> int:
        return 1 + max(len(str(getattr(file, what))) for file in self._files)

    def _words(self, file: ShownFile) -> str:
        return GAP.join(word for word in (file.note, "changed since" if file.changed_since else "") if word)

    def on_click(self, event: events.Click) -> None:
        self.move(self._first + event.y - self._place)

    def on_mouse_scroll_down(self) -> None:
        self.move(1)

    def on_mouse_scroll_up(self) -> None:
        self.move(-1)
