"""Prose that is too long to be drawn whole: its beginning, its end, and a row for the gap."""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style

from keen_tui.frontends.tui.rows.lines import Line, wrap
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.text.sanitize import clean

MOST_CHARACTERS: Final = 40_000
MOST_LINES: Final = 1_000
"""Lines from which on a text isn't drawn whole."""

_FIRST_CHARACTERS: Final = 30_000
_FIRST_LINES: Final = 750
_LAST_CHARACTERS: Final = 10_000
_LAST_LINES: Final = 250
_LONGEST_WORD: Final = 200


class Gap(NamedTuple):
    """The part that is left out of a text: the characters from `start` up to `end`."""

    start: int
    end: int


def gap_in(text: str) -> Gap | None:
    """The part that is left out when the text is drawn, or None. Costs the same for any length."""
    if len(text) <= MOST_CHARACTERS and text.count("\n") <= MOST_LINES:
        return None
    start = _end_of_first(text)
    return Gap(start, max(_start_of_last(text), start))


def extent_of(text: str) -> tuple[int, int]:
    """How many lines and characters of a text are drawn."""
    gap = gap_in(text)
    if gap is None:
        return text.count("\n") + 1, len(text)
    lines = text.count("\n", 0, gap.start) + text.count("\n", gap.end)
    return lines + 2, gap.start + len(text) - gap.end


def wrap_prose(text: str, style: Style, look: RenderStyle) -> list[Line]:
    """Text from outside as rows of prose. Copying the row of the gap copies the text that it stands for."""
    gap = gap_in(text)
    if gap is None:
        return _wrapped(text, style, look)
    left_out = _left_out(text[gap.start : gap.end], look)
    first, *rest = _wrapped(text[gap.end :], style, look)
    return [
        *_wrapped(text[: gap.start].removesuffix("\n"), style, look),
        left_out._replace(joint=_joint_at(text, gap.start)),
        first._replace(joint=_joint_at(text, gap.end)),
        *rest,
    ]


def _wrapped(text: str, style: Style, look: RenderStyle) -> list[Line]:
    return wrap([Segment(clean(text, newlines=True), style)], look.prose)


def _left_out(text: str, look: RenderStyle) -> Line:
    lines = text.count("\n")
    words = f"{lines:,} more line{'s' if lines > 1 else ''}" if lines else f"{len(text):,} more characters"
    row = f"{look.glyphs.more} {words}"
    return Line((Segment(row, look.styles("dim")),), skip=len(row), hidden=text.removesuffix("\n"))


def _joint_at(text: str, position: int) -> str | None:
    """The joint between the rows on both sides of a cut."""
    before = text[position - 1]
    return None if before == "\n" else " " if before == " " else ""


def _word_at(text: str, position: int) -> int:
    """The beginning of the word at `position`, if the word has a usual length."""
    return text.rfind(" ", position - _LONGEST_WORD, position) + 1 or position


def _end_of_first(text: str) -> int:
    """The end of the first part: after a line, or inside one if it is very long."""
    end = 0
    for _ in range(_FIRST_LINES):
        following = text.find("\n", end, _FIRST_CHARACTERS) + 1
        if not following:
            return end if end > _FIRST_CHARACTERS // 2 else _word_at(text, _FIRST_CHARACTERS)
        end = following
    return end


def _start_of_last(text: str) -> int:
    start, first = len(text), len(text) - _LAST_CHARACTERS
    for _ in range(_LAST_LINES):
        before = text.rfind("\n", first, start - 1) + 1
        if not before:
            return start if len(text) - start > _LAST_CHARACTERS // 2 else _word_at(text, first)
        start = before
    return start
