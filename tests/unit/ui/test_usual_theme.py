"""The theme of a terminal where none was chosen."""

from __future__ import annotations

import pytest

from keen_tui.frontends.tui.look.themes import load_themes
from keen_tui.frontends.tui.look.usual_theme import theme_for


@pytest.mark.parametrize(
    ("environ", "theme"),
    [
        ({"TERM": "xterm-256color"}, "keen-dark"),
        ({"TERM": "xterm-kitty"}, "keen-dark"),
        ({"TERM": "screen", "COLORTERM": "truecolor"}, "keen-dark"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "keen-dark"),
        ({"TERM": "xterm"}, "keen-ansi16"),
        ({"TERM": "screen"}, "keen-ansi16"),
        ({"TERM": "xterm-16color", "COLORFGBG": "15;0"}, "keen-ansi16"),
        ({"TERM": "rxvt", "COLORFGBG": "0;default;15"}, "keen-ansi16-light"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "keen-dark"),
        ({}, "keen-ansi16"),
    ],
)
def test_a_terminal_gets_colours_that_it_can_show(environ: dict[str, str], theme: str) -> None:
    assert theme_for("", environ) == theme
    assert theme in load_themes()[0]


def test_a_theme_that_was_chosen_is_used_and_the_ansi_one_follows_the_ground() -> None:
    light = {"TERM": "xterm", "COLORFGBG": "0;15"}
    assert theme_for("keen-light", light) == "keen-light"
    assert theme_for("keen-ansi16", light) == "keen-ansi16-light"
    assert theme_for("keen-ansi16-light", {}) == "keen-ansi16-light"
