"""Nothing that is drawn can drive the terminal: the last gate before a row is written."""

from __future__ import annotations

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class ControlFilter(LineFilter):
    """Takes out what acts on a terminal. Such characters count as no cell, so rows keep their width.

    Texts are cleaned readably where they are laid out; this catches what slipped through.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not any(_ACTS.search(text) for text, _, _ in segments):
            return segments
        return [Segment(_ACTS.sub("", text), style) for text, style, _ in segments]
