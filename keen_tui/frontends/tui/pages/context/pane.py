"""The lower half of the context view: the chosen part as the chosen policy sends it."""

from __future__ import annotations

from itertools import islice

from rich.text import Text

from keen_tui.domain.reports import POLICIES, ContextPart
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN, TEXT_EDGE
from keen_tui.frontends.tui.pages.context.words import at_text_edge, text_rows
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean

_PADS_FROM = 12
"""Rows from which the pane has blank ones."""
_NO_TEXT = {
    "draft": "the composer is empty",
    "frame": "JSON around the messages: names, brackets and commas",
}


class PartPane(RowWidget):
    """The beginning of the text, what the part includes, and what is left out of it."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="context-pane")
        self._part: ContextPart | None = None
        self._policy = 0

    def show(self, part: ContextPart | None, policy: int) -> None:
        """Draw this part under the policy of that index."""
        self._part, self._policy = part, policy
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        part = self._part
        if part is None or not height:
            return []
        inner = max(width - TEXT_EDGE - RIGHT_MARGIN, 1)
        roomy = height >= _PADS_FROM
        gap = [Text()] if roomy else []
        title = part_title(part, self._policy, self.look)
        hint = self.key_hint("enter", "read it all")
        fits = title.cell_len + len(GAP) + hint.cell_len <= inner
        title = spread(title, hint if fits else Text(), inner, self.glyphs.more)
        head = [*gap, indented(title, TEXT_EDGE), *gap]
        foot = self._foot(part, inner, gap)
        room = max(height - len(head) - len(foot) - len(gap), 0)
        return [*head, *self._body(part, inner, room), *foot]

    def _body(self, part: ContextPart, cells: int, room: int) -> list[Text]:
        """The rows of the text that fit; the last one says when there is more."""
        text = part.sizes[self._policy].text
        if not text:
            nothing = _NO_TEXT.get(part.kind, "not sent")
            return [indented(Text(nothing, self.look("dim")), TEXT_EDGE)][:room]
        begin = text[: (room + 2) * cells * 2]
        rows = list(islice(text_rows(begin, cells, self.look("text")), room + 1))
        if len(rows) > room or len(begin) < len(text):
            rows = [*rows[: room - 1], Text(f"{self.glyphs.down} more", self.look("soft"))] if room else []
        return [at_text_edge(row, self.glyphs, self.look("accent")) for row in rows]

    def _foot(self, part: ContextPart, cells: int, gap: list[Text]) -> list[Text]:
        held = part.sizes[self._policy]
        said = (("includes", held.includes), ("left out", held.left_out))
        rows = [
            cut_row(Text(f"{word}: {clean(what)}", self.look("dim")), cells, self.glyphs.more)
            for word, what in said
            if what
        ]
        return [*gap, *(indented(row, TEXT_EDGE) for row in rows)] if rows else []


def part_title(part: ContextPart, policy: int, look: Styles) -> Text:
    """`turn 3   as summary sends it`."""
    return Text.assemble(
        (clean(part.title), look("text", bold=True)), GAP,
        ("as ", look("dim")), (POLICIES[policy], look("soft")), (" sends it", look("dim")),
    )  # fmt: skip
