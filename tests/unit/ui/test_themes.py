"""Theme files: contrast of the shipped ones, problems of the user's own."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from textual.color import Color

from keen_tui.frontends.tui.look.themes import ROLES, KeenTheme, Styles, load_themes
from keen_tui.frontends.tui.look.usual_theme import shipped_folder

THEMES, PROBLEMS = load_themes()
HEX_THEMES = [theme for theme in THEMES.values() if not theme.ansi]

READ_ON: dict[tuple[str, ...], tuple[str, ...]] = {
    ("text", "soft", "dim"): ("background", "surface", "panel", "raised"),
    ("accent", "wait", "fail", "ok"): ("background", "surface", "panel", "raised"),
    ("text", "soft", "wait"): ("wait-wash",),
    ("link", "add", "del"): ("background", "surface", "panel"),
    ("text",): ("select", "add-wash", "del-wash", "add-mark", "del-mark"),
    ROLES["code"]: ("background", "panel", "add-wash", "del-wash"),
    ("dim", "add"): ("add-wash",),
    ("dim", "del"): ("del-wash",),
    ("on-wait",): ("wait-fill",),
    ("on-accent",): ("accent",),
}
"""Which text roles stand on which grounds."""
PAIRS = sorted({pair for roles, grounds in READ_ON.items() for pair in product(roles, grounds)})


def contrast(front: str, ground: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""
    light, dark = sorted((_luminance(front), _luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(value) for value in Color.parse(colour).normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def write_theme(folder: Path, name: str, change: tuple[str, str]) -> None:
    shipped = (shipped_folder() / "keen-dark.toml").read_text(encoding="utf-8")
    (folder / f"{name}.toml").write_text(
        shipped.replace(*change).replace("keen-dark", name), encoding="utf-8"
    )


def test_all_shipped_themes_load_without_a_problem() -> None:
    assert not PROBLEMS
    assert set(THEMES) == {
        "keen-dark",
        "keen-light",
        "keen-contrast",
        "keen-safe",
        "keen-ansi16",
        "keen-ansi16-light",
    }


@pytest.mark.parametrize("theme", HEX_THEMES, ids=lambda theme: theme.name)
def test_every_text_can_be_read_on_every_ground_it_stands_on(theme: KeenTheme) -> None:
    floor = 7.0 if theme.name == "keen-contrast" else 4.5
    low = {
        f"{front} on {ground}": round(ratio, 2)
        for front, ground in PAIRS
        if (ratio := contrast(theme.colours[front], theme.colours[ground])) < floor
    }
    assert not low


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_textual_can_use_the_theme(theme: KeenTheme) -> None:
    textual = theme.textual()
    variables = {**textual.to_color_system().generate(), **textual.variables}
    assert variables["keen-soft"]
    assert variables["keen-wait-wash"]
    assert variables["keen-code-keyword"]
    assert variables["scrollbar"]


def test_the_light_half_of_the_ansi_theme_differs_only_where_it_says_so() -> None:
    dark, light = THEMES["keen-ansi16"], THEMES["keen-ansi16-light"]
    assert dark.dark and not light.dark
    assert light.colours["accent"] == "ansi_blue"
    assert light.colours["background"] == dark.colours["background"]


def test_a_users_theme_wins_over_a_shipped_one_of_its_name(tmp_path: Path) -> None:
    write_theme(tmp_path, "keen-dark", ("#5ecdb4", "#123456"))
    themes, problems = load_themes(tmp_path)
    assert not problems
    assert themes["keen-dark"].colours["accent"] == "#123456"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('text = "#dde5e3"', 'text = "nearly white"'), ", line 15: 'text.text' is 'nearly white', but must"),
        (('soft = "#a9b7b8"', ""), ", line 14: 'text.soft' is missing"),
        (('soft = "#a9b7b8"', 'softer = "#a9b7b8"'), ", line 16: unknown key 'text.softer'"),
        (("dark = true", 'dark = "yes"'), ", line 3: 'dark' must be true or false"),
        (("[text]", "[text"), " cannot be read: Expected ']' at the end of a table declaration (at line 14"),
    ],
)
def test_a_broken_theme_is_named_with_file_and_key_and_left_out(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    write_theme(tmp_path, "mine", change)
    themes, problems = load_themes(tmp_path)
    assert "mine" not in themes
    assert "keen-dark" in themes
    assert any(problem.startswith(f"mine.toml{told}") for problem in problems["mine.toml"])


def test_without_colour_a_chip_is_reverse_and_nothing_has_a_colour() -> None:
    styles = Styles(THEMES["keen-dark"], colour=False)
    assert styles("on-wait", on="wait-fill").reverse
    assert styles("fail").color is None
    assert not styles("text", on="wait-wash").reverse


def test_in_sixteen_colours_code_is_told_apart_by_weight() -> None:
    styles = Styles(THEMES["keen-ansi16"])
    assert styles("keyword").bold
    assert styles("comment").italic
    assert styles("link").underline
