"""The help page: every action with its keys, read from the registry; those of the focused pane first."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen

from keen_tui.custom_commands import CustomCommand, Origin
from keen_tui.ui.action import Action, Where
from keen_tui.ui.actions import ACTIONS, shown_key
from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.themes import Styles
from keen_tui.ui.widgets.rows import Rows, indented

TITLES: dict[Where, str] = {
    "anywhere": "Everywhere, also while you type",
    "composer": "In the composer",
    "transcript": "In the transcript (tab goes there)",
    "search": "While you look for words",
    "panels": "In Activity and TurnMemory",
    "question": "When something asks",
}
_ORIGINS: Mapping[Origin, str] = {"yours": "Your own commands", "project": "Commands of this project"}
_KEY_COLUMN = 26
_MARGIN = 2
_IDEAS = (
    ("TurnMemory", "after a turn, only two facts of its tool work go on: files changed, commands failed"),
    ("Incomplete", "a turn that was cut keeps its finished calls; ctrl+r goes on, nothing runs twice"),
    ("Modes", "ask: every change and command asks; auto-edit: edits run; plan: reads only; auto: all runs"),
)


class HelpRows(Rows):
    """The page itself; `focused` is the place whose keys come first."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, focused: Where, commands: Sequence[CustomCommand]
    ) -> None:
        super().__init__(styles, glyphs, id="help-rows")
        self._focused = focused
        self._commands = commands

    def rows(self, width: int, height: int) -> list[Text]:
        places = sorted(TITLES, key=lambda where: where != self._focused)
        page: list[Text] = []
        for where in places:
            page += [self._title(TITLES[where]), Text()]
            for action in _with_keys(where):
                names = (*map(shown_key, action.keys), *(f"/{command}" for command in action.slash))
                page += self._lines(", ".join(names), action.help, width)
            page += [Text(), Text()]
        for origin, title in _ORIGINS.items():
            page += self._commands_of(origin, title, width)
        page += [self._title("What is different here"), Text()]
        for word, meaning in _IDEAS:
            page += self._lines(word, meaning, width)
        return [indented(row, _MARGIN) for row in page]

    def _commands_of(self, origin: Origin, title: str, width: int) -> list[Text]:
        commands = [command for command in self._commands if command.origin == origin]
        if not commands:
            return []
        rows = [self._title(title), Text()]
        for command in commands:
            rows += self._lines(f"/{command.name} {command.hint}".rstrip(), command.description, width)
        return [*rows, Text(), Text()]

    def _title(self, text: str) -> Text:
        return Text(text, self.look("text", bold=True))

    def _lines(self, first: str, then: str, width: int) -> list[Text]:
        """Two columns; the second is wrapped within itself."""
        wrapped = textwrap.wrap(then, max(width - _KEY_COLUMN - 2 * _MARGIN, 20))
        heads = [first, *[""] * (len(wrapped) - 1)]
        return [
            Text.assemble((head.ljust(_KEY_COLUMN), self.look("text", bold=True)), (line, self.look("soft")))
            for head, line in zip(heads, wrapped, strict=True)
        ]


class HelpKeys(Rows):
    """The last row of the page."""

    def rows(self, width: int, height: int) -> list[Text]:
        keys = (("esc", "back"), (f"{self.glyphs.up}{self.glyphs.down}", "scroll"), ("ctrl+p", "actions"))
        return [indented(self.fact(*(self.key_hint(key, verb) for key, verb in keys)), 2)]


class HelpScreen(Screen[None]):
    """Covers the workspace until esc, f1 or q."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss", show=False, priority=True),
        Binding("ctrl+p", "app.command_palette", show=False, priority=True),
    ]

    def __init__(
        self, styles: Styles, glyphs: Glyphs, focused: Where, commands: Sequence[CustomCommand] = ()
    ) -> None:
        super().__init__()
        self._rows = HelpRows(styles, glyphs, focused, commands)
        self._keys = HelpKeys(styles, glyphs, id="help-keys")

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help-page"):
            yield self._rows
        yield self._keys


def _with_keys(where: Where) -> list[Action]:
    return [action for action in ACTIONS if action.where == where and (action.keys or action.slash)]
