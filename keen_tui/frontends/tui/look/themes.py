"""Themes: one TOML file each, read into roles; the roles as Textual theme and as rich styles.

A role is what a colour means ("wait", "dim", "add-wash"), never what it looks like. A theme names a
colour for every role, as `#rrggbb` or, with `ansi = true`, as one of Textual's `ansi_*` names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from rich.style import Style
from textual.theme import Theme

from keen_tui.frontends.tui.look.usual_theme import DEFAULT_THEME, shipped_folder
from keen_tui.settings.toml_lines import line_of
from keen_tui.system.paths import text_of

ROLES: Mapping[str, tuple[str, ...]] = {
    "ground": ("background", "surface", "panel", "raised", "edge", "track", "select"),
    "text": ("text", "soft", "dim", "link"),
    "state": ("accent", "on-accent", "wait", "wait-fill", "on-wait", "wait-wash", "fail", "ok"),
    "diff": ("add", "add-wash", "del", "del-wash"),
    "code": ("keyword", "string", "number", "comment", "name"),
}
"""The roles of a theme by the table of the file that holds them."""

_MARKS = {"add-mark": ("add-wash", "add"), "del-mark": ("del-wash", "del")}
"""The grounds of changed words, which no file names: a part of the way from a row's ground to its sign."""
_MARK_SHARE = 0.2

_VARIABLES = {
    "block-cursor-foreground": "text",
    "block-cursor-background": "raised",
    "block-cursor-blurred-foreground": "text",
    "block-cursor-blurred-background": "raised",
    "block-hover-background": "raised",
    "border": "accent",
    "border-blurred": "edge",
    "input-cursor-foreground": "background",
    "input-cursor-background": "text",
    "input-selection-foreground": "text",
    "input-selection-background": "select",
    "screen-selection-foreground": "text",
    "screen-selection-background": "select",
    "scrollbar": "track",
    "scrollbar-hover": "track",
    "scrollbar-active": "accent",
    "scrollbar-background": "background",
    "scrollbar-background-hover": "background",
    "scrollbar-background-active": "background",
    "scrollbar-corner-color": "background",
    "footer-foreground": "text",
    "footer-background": "background",
    "footer-key-foreground": "text",
    "footer-description-foreground": "dim",
    "link-color": "link",
    "link-color-hover": "link",
    "link-background-hover": "raised",
}
_ANSI_VARIABLES = {
    "block-cursor-foreground": "ansi_black",
    "block-cursor-background": "ansi_white",
    "input-cursor-foreground": "ansi_default",
    "input-cursor-background": "ansi_default",
    "input-cursor-text-style": "reverse",
    "input-selection-foreground": "ansi_black",
    "screen-selection-foreground": "ansi_black",
}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_ANSI_COLOUR = re.compile(
    r"ansi_(default|(bright_)?(black|red|green|yellow|blue|magenta|cyan|white))",
)


class KeenTheme(Struct, frozen=True):
    """A theme as its file says it: `colours` maps each role to `#rrggbb` or to an `ansi_*` name."""

    name: str
    dark: bool
    ansi: bool
    colours: Mapping[str, str]

    def textual(self) -> Theme:
        """The theme for `App.register_theme`; every role is also there as variable `$keen-<role>`."""
        colours = self.colours
        return Theme(
            name=self.name,
            dark=self.dark,
            ansi=self.ansi,
            variables=self._variables(),
            background=colours["background"],
            surface=colours["surface"],
            panel=colours["panel"],
            boost=colours["raised"],
            foreground=colours["text"],
            primary=colours["accent"],
            accent=colours["accent"],
            secondary=colours["link"],
            warning=colours["wait"],
            error=colours["fail"],
            success=colours["ok"],
        )

    def _variables(self) -> dict[str, str]:
        code = ROLES["code"]
        variables = {
            f"keen-code-{role}" if role in code else f"keen-{role}": colour
            for role, colour in self.colours.items()
        }
        variables |= {name: self.colours[role] for name, role in _VARIABLES.items()}
        variables["block-cursor-text-style"] = "bold"
        if self.ansi:
            variables |= _ANSI_VARIABLES
            variables["ansi-background"] = "ansi_black" if self.dark else "ansi_white"
            variables["ansi-foreground"] = "ansi_white" if self.dark else "ansi_black"
        return variables


class Styles:
    """The roles of a theme as rich styles, each built once.

    With `colour=False` (NO_COLOR) every role is the terminal's default colour, and what stands on a
    chip, on the selection or on a raised row is shown in reverse video.
    """

    def __init__(self, theme: KeenTheme, *, colour: bool = True) -> None:
        self.theme = theme
        self.colour = colour
        self._cache: dict[tuple[str, str | None, bool, bool, bool, bool], Style] = {}

    @property
    def plain(self) -> bool:
        """True when a ground cannot be told from another: sixteen colours, or none."""
        return self.theme.ansi or not self.colour

    def __call__(
        self,
        role: str,
        *,
        on: str | None = None,
        bold: bool = False,
        italic: bool = False,
        underline: bool = False,
        strike: bool = False,
    ) -> Style:
        """The style of `role`, on the ground `on` or, without one, on whatever lies below.

        Raises:
            KeyError: there is no such role.
        """
        key = (role, on, bold, italic, underline, strike)
        style = self._cache.get(key)
        if style is None:
            style = self._cache[key] = self._build(*key)
        return style

    def _build(
        self, role: str, on: str | None, bold: bool, italic: bool, underline: bool, strike: bool
    ) -> Style:
        colours = self.theme.colours
        front, ground = colours[role], None if on is None else colours[on]
        return Style(
            color=_rich_colour(front) if self.colour else None,
            bgcolor=_rich_colour(ground) if ground and self.colour else None,
            bold=bold or (self.plain and role in ("keyword", "name")) or None,
            italic=italic or (self.plain and role == "comment") or None,
            underline=underline or (self.plain and role == "link") or None,
            strike=strike or None,
            reverse=(not self.colour and on in ("wait-fill", "accent", "select", "fail")) or None,
        )


def load_theme(name: str, user_folder: Path | None = None) -> KeenTheme:
    """The theme of that name, the default one where it can't be had: `load_themes` says why."""
    for folder in (user_folder, shipped_folder()):
        for stem in (name, name.removesuffix("-light")):
            if folder is not None and (file := folder / f"{stem}.toml").is_file():
                for theme in _read(file)[0]:
                    if theme.name == name:
                        return theme
    themes, _ = load_themes(user_folder)
    return themes.get(name) or themes[DEFAULT_THEME]


def load_themes(user_folder: Path | None = None) -> tuple[dict[str, KeenTheme], dict[str, list[str]]]:
    """The shipped themes and those of `user_folder`, which win where names are equal.

    Returns the themes by name and, by the name of the file, the problems found: sentences with line and key.
    A theme with a problem is left out; the others load.
    """
    themes: dict[str, KeenTheme] = {}
    problems: dict[str, list[str]] = {}
    folders: list[Path] = [shipped_folder()]
    if user_folder is not None and user_folder.is_dir():
        folders.append(user_folder)
    for folder in folders:
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".toml"):
                loaded, wrong = _read(file)
                themes |= {theme.name: theme for theme in loaded}
                problems |= {file.name: wrong} if wrong else {}
    return themes, problems


def _read(file: Path) -> tuple[list[KeenTheme], list[str]]:
    """The themes of one file: the theme itself and, where it has a table `light`, its light half."""
    try:
        text = text_of(file)
        table = tomllib.loads(text)
    except (OSError, ValueError) as error:
        return [], [f"{file.name} cannot be read: {error}."]
    light = table.pop("light", None)
    name = table.get("name", file.name.removesuffix(".toml"))
    themes, problems = _theme({**table, "name": name})
    if isinstance(light, dict) and not problems:
        merged = {**table, "name": f"{name}-light", "dark": False}
        merged |= {group: {**table[group], **values} for group, values in light.items() if group in ROLES}
        light_half, problems = _theme(merged)
        themes += light_half
    return themes, [_told(file.name, text, problem) for problem in problems]


class _Problem(NamedTuple):
    """A key of a theme, and a sentence about what is wrong with it."""

    key: str
    sentence: str


def _told(file: str, text: str, problem: _Problem) -> str:
    """The problem with its file and line, if that can be seen: that of the table for what is missing."""
    names = (problem.key, problem.key.partition(".")[0])
    line = next((line for name in names if (line := line_of(text, name))), 0)
    return f"{file}, line {line}: {problem.sentence}" if line else f"{file}: {problem.sentence}"


def _theme(table: dict[str, Any]) -> tuple[list[KeenTheme], list[_Problem]]:
    ansi = table.get("ansi", False)
    problems = [
        _Problem(key, f"unknown key {key!r}.") for key in table if key not in (*ROLES, "name", "dark", "ansi")
    ]
    problems += [
        _Problem(key, f"{key!r} must be true or false.")
        for key in ("dark", "ansi")
        if not isinstance(table.get(key, False), bool)
    ]
    colours: dict[str, str] = {}
    for group, roles in ROLES.items():
        given = table.get(group, {})
        if not isinstance(given, dict):
            problems.append(_Problem(group, f"{group!r} must be a table."))
            continue
        unknown = [f"{group}.{key}" for key in given if key not in roles]
        problems += [_Problem(key, f"unknown key {key!r}.") for key in unknown]
        for role in roles:
            colours[role] = given.get(role, "")
            problems += _colour_problem(f"{group}.{role}", given.get(role), bool(ansi))
    if problems:
        return [], problems
    for role, (ground, sign) in _MARKS.items():
        colours[role] = colours[ground] if ansi else _between(colours[ground], colours[sign], _MARK_SHARE)
    theme = KeenTheme(name=str(table["name"]), dark=table.get("dark", True), ansi=ansi, colours=colours)
    return [theme], []


def _colour_problem(key: str, value: Any, ansi: bool) -> list[_Problem]:
    if value is None:
        return [_Problem(key, f"{key!r} is missing.")]
    shape, wanted = (_ANSI_COLOUR, "an ansi_… colour") if ansi else (_COLOUR, "a colour like #5ecdb4")
    if not isinstance(value, str) or not shape.fullmatch(value):
        return [_Problem(key, f"{key!r} is {value!r}, but must be {wanted}.")]
    return []


def _between(one: str, other: str, share: float) -> str:
    """The colour that lies so far on the way from one to another."""
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(here + (there - here) * share) for here, there in pairs).hex()


def _rich_colour(colour: str) -> str:
    return colour.removeprefix("ansi_")
