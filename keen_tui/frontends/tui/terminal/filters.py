"""Nothing that is drawn can drive the terminal: the last gate before a row is written."""

from __future__ import annotations

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE

_BLOCKS = "▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▔▕"
"""The characters that Textual draws the ends of scrollbars with; a space shows the same ground."""
_PLAIN = {
    **{getattr(UNICODE, name): getattr(ASCII, name) for name in UNICODE.__struct_fields__ if name != "ascii"},
    **dict.fromkeys(_BLOCKS, " "),
    UNICODE.queued: ">",
    UNICODE.bar: ASCII.bar,
    "×": "x",
    "—": "-",
    "·": "-",
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
}
_TO_PLAIN = str.maketrans(_PLAIN)
_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class ControlFilter(LineFilter):
    """Takes out what acts on a terminal. Such characters count as no cell, so rows keep their width.

    Texts are cleaned readably where they are laid out; this catches what slipped through.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not any(_ACTS.search(text) for text, _, _ in segments):
            return segments
        return [Segment(_ACTS.sub("", text), style) for text, style, _ in segments]


class AsciiFilter(LineFilter):
    """Draws signs of ours that slipped through, and those of Textual, in ASCII. All keep their one cell;
    other characters of the user's own texts stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(text.isascii() for text, _, _ in segments):
            return segments
        return [Segment(text.translate(_TO_PLAIN), style) for text, style, _ in segments]
