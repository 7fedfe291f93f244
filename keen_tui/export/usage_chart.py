"""What each turn sent beside what the whole history would have been, as an SVG picture for the HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Final

from msgspec import Struct

from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.export.document import ExportedSession
from keen_tui.export.html_markdown import line_text
from keen_tui.text.spending import CACHED, LEFT_OUT, NEW, bar_cells, whole_history
from keen_tui.text.units import tokens

_MOST_BARS: Final = 40
_WIDTH: Final = 720
_LEFT, _RIGHT = 96, 124
"""Room for the names of the bars, and for their figures."""
_ROW, _BAR = 22, 12
"""Heights of a row and of its bar. All lengths are pixels."""
_CLASSES: Final = ("new", "cached", "left-out")


class _Bar(Struct, frozen=True):
    """One turn, or neighbouring ones of a long session."""

    name: str
    spent: Spent


def usage_chart(document: ExportedSession) -> str:
    """The picture with a sentence below it; "" where no turn used anything."""
    bars = _bars(document)
    spent = reduce(Spent.joined, (bar.spent for bar in bars), NOTHING)
    if not spent:
        return ""
    words = line_text(whole_history(spent))
    height = _ROW * (len(bars) + 1)
    rows = "".join(_row(place, bar, bars) for place, bar in enumerate(bars))
    return (
        '<section class="usage" aria-label="Usage">\n'
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{words}">\n'
        f"{_legend()}{rows}</svg>\n<p>{words}</p>\n</section>\n"
    )


def _bars(document: ExportedSession) -> Sequence[_Bar]:
    turns = document.turns
    together = -(-len(turns) // _MOST_BARS) or 1
    bars = []
    for begin in range(0, len(turns), together):
        group = turns[begin : begin + together]
        first, last = group[0].number, group[-1].number
        name = f"turn {first}" if first == last else f"{first} to {last}"
        bars.append(_Bar(name, reduce(Spent.joined, (turn.spent for turn in group), NOTHING)))
    return bars


def _row(place: int, bar: _Bar, bars: Sequence[_Bar]) -> str:
    most = max(each.spent.whole_tokens for each in bars)
    top = _ROW * (place + 1)
    parts = bar_cells(bar.spent, most, _WIDTH - _LEFT - _RIGHT)
    figures = f"{tokens(bar.spent.input_tokens)} of {tokens(bar.spent.whole_tokens)}"
    counts = (bar.spent.new_tokens, bar.spent.cached_tokens, bar.spent.whole_tokens - bar.spent.input_tokens)
    told = (f"{count:,} {words}" for count, words in zip(counts, (NEW, CACHED, LEFT_OUT), strict=True))
    title = f"{bar.name}: {', '.join(told)}"
    return (
        f"<g><title>{title}</title>{_text(0, top, bar.name)}{''.join(_boxes(parts, top))}"
        f"{_text(_LEFT + sum(parts) + 8, top, figures)}</g>\n"
    )


def _boxes(widths: Sequence[int], top: int) -> Iterator[str]:
    at = _LEFT
    for kind, width in zip(_CLASSES, widths, strict=True):
        if width:
            yield _box(at, top, width, kind)
        at += width


def _legend() -> str:
    """The first row: a box of each kind with its name."""
    at, row = _LEFT, ""
    for kind, words in zip(_CLASSES, (NEW, CACHED, LEFT_OUT), strict=True):
        row += _box(at, 0, 16, kind) + _text(at + 22, 0, words)
        at += 22 + 9 * len(words) + 24
    return f"<g>{row}</g>\n"


def _box(left: int, top: int, width: int, kind: str) -> str:
    return f'<rect class="{kind}" x="{left}" y="{top + 4}" width="{width}" height="{_BAR}"/>'


def _text(left: int, top: int, words: str) -> str:
    return f'<text x="{left}" y="{top + 14}">{line_text(words)}</text>'
