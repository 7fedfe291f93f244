"""The text of a part as rows, broken where they are full. What is out of view is not broken yet."""

from __future__ import annotations

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from keen_tui.plain import clean
from keen_tui.ui.transcript.lines import wrap

_PIECE = 2_000
"""Characters of a line that are broken at a time: a file without line ends must not take seconds."""


def text_rows(text: str, cells: int, style: Style) -> Iterator[Text]:
    """The rows of `text` in `cells`, one after the other."""
    for line in clean(text, newlines=True).split("\n"):
        for start in range(0, max(len(line), 1), _PIECE):
            piece = Segment(line[start : start + _PIECE])
            yield from (Text(row.text, style) for row in wrap([piece], cells))
