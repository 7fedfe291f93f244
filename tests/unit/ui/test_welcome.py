"""What the empty workspace promises."""

from __future__ import annotations

from typing import get_args

import pytest

from keen_tui.domain.choices import Mode
from keen_tui.frontends.tui.look.glyphs import ASCII, UNICODE, Glyphs
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.widgets.welcome import Welcome, different_rows

STYLES = Styles(load_themes()[0]["keen-dark"])
PROMISES = {
    "ask": "and asks",
    "auto-edit": "without asking. It asks before anything else",
    "plan": "Nothing is changed before you accept it",
    "auto": "runs commands without asking",
}


@pytest.mark.parametrize("mode", get_args(Mode))
def test_it_promises_what_the_mode_in_use_does(mode: Mode) -> None:
    page = Welcome(STYLES, UNICODE)
    page.show_mode(mode)
    shown = " ".join(" ".join(row.plain for row in page.rows(120, 40)).split())
    assert [each for each, words in PROMISES.items() if words in shown] == [mode]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize(("width", "height"), [(60, 10), (60, 13), (64, 26), (80, 14), (120, 40)])
def test_nothing_on_it_is_cut_in_sixty_columns(width: int, height: int, glyphs: Glyphs) -> None:
    page = Welcome(STYLES, glyphs)
    rows = [row.plain for row in page.rows(width, height)]
    assert len(rows) <= height and max(map(len, rows)) <= width
    shown = " ".join(" ".join(rows).split())
    assert all(words in shown for words in ("remembers outcomes", "never repeats finished work"))
    different = ("where a turn broke off ctrl+b", "with its output ctrl+t", "what later turns will know")
    assert [words in shown for words in different] == [height > 10] * 3


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_what_has_no_room_is_cut_with_a_sign(glyphs: Glyphs) -> None:
    rows = different_rows(STYLES, 36, glyphs.more)
    retry = next(row.plain for row in rows if "retry" in row.plain)
    assert retry.endswith(glyphs.more)
    assert len(retry) <= 36
