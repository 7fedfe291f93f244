"""The files that were changed, one row each, with what was added and removed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.geometry import Size

from keen_tui.frontends.shared.changes import ShownFile
from keen_tui.frontends.tui.look.cells import cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.widgets.row_widget import GAP, cut_row

_FEWEST_ROWS = 3


class FileList(RowList[ShownFile]):
    """Takes up to a quarter of the screen and scrolls within that; one file is always chosen."""

    wheel = 1

    def __init__(self, styles: Styles, glyphs: Glyphs, files: Sequence[ShownFile]) -> None:
        super().__init__(styles, glyphs, self._row, id="changed-files")
        self.set_lines(files)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self.lines), max(_FEWEST_ROWS, viewport.height // 4))

    def has_mark(self, view: range) -> bool:
        return len(view) > 1

    def _row(self, file: ShownFile, width: int, chosen: bool) -> Text:
        look, minus = self.look, self.glyphs.minus
        row = Text.assemble(
            " ",
            (self.glyphs.changed, look("soft")),
            " ",
            (self._path(file, width), look("text", bold=chosen)),
            GAP,
            (self._count("+", file, "added").rjust(self._count_cells("added")), look("add")),
            " ",
            (self._count(minus, file, "removed").ljust(self._count_cells("removed")), look("del")),
            (f"{GAP}{self._words(file)}", look("dim")),
        )
        return cut_row(row, width, self.glyphs.more)

    def _path(self, file: ShownFile, width: int) -> str:
        """The path in a column that is as wide as the longest, up to half of the row."""
        longest = max(Text(each.path).cell_len for each in self.lines)
        cells = min(longest, (width - 1) // 2)
        path = Text(cut_path(file.path, cells, self.glyphs.more))
        path.pad_right(max(cells - path.cell_len, 0))
        return path.plain

    def _count(self, sign: str, file: ShownFile, what: str) -> str:
        return f"{sign}{getattr(file, what)}" if file.diff else ""

    def _count_cells(self, what: str) -> int:
        return 1 + max(len(str(getattr(file, what))) for file in self.lines)

    def _words(self, file: ShownFile) -> str:
        return GAP.join(word for word in (file.note, "changed since" if file.changed_since else "") if word)
