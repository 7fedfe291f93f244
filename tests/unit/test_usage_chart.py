"""Bars of what was sent beside the whole history, as the screen and the HTML export have them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest

from keen_tui.domain.events import Event, Usage
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.export import as_html
from keen_tui.text.spending import bar_cells, percent_of_whole, whole_history
from tests.support.exported import done, source
from tests.support.story import started


def spent(new: int, cached: int, left_out: int) -> Spent:
    sent = new + cached
    return Spent(input_tokens=sent, cached_tokens=cached, whole_tokens=sent + left_out)


@pytest.mark.parametrize(
    ("tokens", "most", "cells"),
    [
        ((60, 20, 20), 100, (6, 2, 2)),
        ((50, 25, 25), 200, (2, 2, 1)),
        ((0, 0, 0), 100, (0, 0, 0)),
        ((1, 0, 999), 1_000, (1, 0, 9)),
        ((0, 1, 999), 1_000, (0, 1, 9)),
        ((5, 0, 0), 0, (0, 0, 0)),
    ],
)
def test_the_parts_of_a_bar_fill_their_share(
    tokens: tuple[int, int, int], most: int, cells: tuple[int, int, int]
) -> None:
    assert bar_cells(spent(*tokens), most, 10) == cells


def test_a_bar_is_never_longer_than_its_room() -> None:
    for new in range(0, 60, 7):
        for cached in range(0, 60, 7):
            for left_out in range(0, 60, 7):
                one = spent(new, cached, left_out)
                assert sum(bar_cells(one, one.whole_tokens, 10)) == (10 if one.whole_tokens else 0)


def test_the_share_of_the_whole_history_is_told_in_words() -> None:
    assert percent_of_whole(spent(1, 0, 999)) == "<1 %"
    assert percent_of_whole(spent(0, 0, 0)) == ""
    assert percent_of_whole(spent(999, 0, 1)) == "99 %", "something is left out"
    assert whole_history(spent(1_000, 500, 4_500)) == (
        "Sent: 1,500 tokens, 25 % of the whole history (6,000)."
    )


def turns(count: int) -> Sequence[Event]:
    tokens = TokenUsage(input_tokens=1_000, output_tokens=10, cached_tokens=400)
    return [
        event
        for number in range(1, count + 1)
        for event in (
            started(number, "go"),
            Usage(turn=number, step=1, tokens=tokens, cost=0.01),
            done(number, carried_bytes=0, trace_bytes=4_000),
        )
    ]


def picture(count: int) -> ET.Element:
    found = re.search(r"<svg.*?</svg>", as_html(source(*turns(count))), re.DOTALL)
    assert found
    return ET.fromstring(found[0])


def test_the_html_page_ends_with_the_bars_of_its_turns() -> None:
    svg = picture(3)
    titles = [title.text for title in svg.iter("title")]
    assert titles == [
        "turn 1: 600 new, 400 from cache, 0 left out",
        "turn 2: 600 new, 400 from cache, 1,000 left out",
        "turn 3: 600 new, 400 from cache, 2,000 left out",
    ]
    assert svg.get("aria-label") == "Sent: 3,000 tokens, 50 % of the whole history (6,000)."
    boxes = [box for box in svg.iter("rect") if box.get("class") == "left-out"]
    widths = [int(box.get("width", "0")) for box in boxes[1:]]
    assert len(widths) == 2 and abs(widths[1] - 2 * widths[0]) <= 1


def test_many_turns_share_bars() -> None:
    titles = [str(title.text) for title in picture(400).iter("title")]
    assert len(titles) == 40
    assert titles[0].startswith("1 to 10: 6,000 new, 4,000 from cache, 45,000 left out")


def test_without_usage_there_is_no_picture() -> None:
    assert "<svg" not in as_html(source(started(1, "go"), done(1)))


def test_searches_are_counted_and_no_cost_includes_them() -> None:
    usages = (
        Usage(turn=1, step=1, tokens=TokenUsage(input_tokens=10, web_searches=each)) for each in (2, None, 1)
    )
    whole = NOTHING
    for usage in usages:
        whole = whole.plus(usage)
    assert whole_history(whole).endswith(" 3 web searches, not in the cost.")
    assert "search" not in whole_history(NOTHING)
