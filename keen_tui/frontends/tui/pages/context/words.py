"""The text of a part as rows, broken where they are full. What is out of view is not broken yet."""

from __future__ import annotations

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.pages.context.columns import TEXT_EDGE
from keen_tui.frontends.tui.rows.lines import wrap
from keen_tui.frontends.tui.widgets.row_widget import indented
from keen_tui.text.sanitize import clean

_PIECE = 2_000
"""Characters of a line that are broken at a time: a file without line ends must not take seconds."""


_USER = "› "
"""The sign before the user's words in the text of a part."""


def text_rows(text: str, cells: int, style: Style) -> Iterator[Text]:
    """The rows of `text` in `cells`, one after the other."""
    for line in clean(text, newlines=True).split("\n"):
        for start in range(0, max(len(line), 1), _PIECE):
            piece = Segment(line[start : start + _PIECE])
            yield from (Text(row.text, style) for row in wrap([piece], cells))


def at_text_edge(row: Text, glyphs: Glyphs, prompt: Style) -> Text:
    """A row on the page: the sign of the user's words stands before the text edge, in its colour."""
    if not row.plain.startswith(_USER):
        return indented(row, TEXT_EDGE)
    return Text.assemble("  ", (glyphs.prompt, prompt), " ", row[len(_USER) :])
