"""The help page: the ten keys to begin with, then every action with its keys, read from the registry;
those of the focused pane first."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial

from rich.text import Text
from textual.containers import VerticalScroll

from keen_tui.frontends.shared.action import Action, Where
from keen_tui.frontends.shared.commands.actions import ACTIONS, BY_ID
from keen_tui.frontends.shared.commands.slash import OwnCommand
from keen_tui.frontends.tui.keys.keymap import keys_of, shown, shown_key
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, wrapped

TITLES: dict[Where, str] = {
    "anywhere": "Everywhere, also while you type",
    "composer": "In the composer",
    "transcript": "In the transcript ({next_pane} goes there)",
    "search": "While you search",
    "panels": "In Activity and TurnMemory",
    "question": "When Keen asks you",
    "pages": "On pages",
}
_TEN: Mapping[str, str] = {
    "send": "sends or queues a message",
    "new_line": "starts a new line",
    "stop": "stops the turn",
    "retry": "continues a cut-off turn",
    "next_mode": "next permission mode",
    "complete": "completes commands, files",
    "details": "unfolds or folds calls",
    "sidebar": "shows or hides the panels",
    "palette": "finds any action",
    "interrupt": "pressed twice, quits",
}
"""The actions that one needs first, and what their keys do, in one row of 60 columns each."""
_OTHER_KEYS: tuple[Where, ...] = ("pages", "question", "search")
"""Where most of these ten do something else, so that the keys of the place come before them."""
_OWN: Mapping[str, str] = {
    "yours": "Your own commands",
    "project": "Commands of this project",
    "skill": "Skills",
}
_KEY_COLUMN = 26
_MARGIN = 2
_IDEAS = (
    ("TurnMemory", "later turns know only a turn's outcome: files changed, commands failed, skills used"),
    ("Incomplete", "an interrupted turn keeps its finished calls; {retry} continues, nothing runs twice"),
    ("Modes", "ask: Keen asks before it writes; auto-edit: edits run; plan: reads only; auto: all runs"),
    ("Other keys", 'the table [keys] of the settings: retry = "alt+r", or a list of keys, or none: ""'),
)
_SCROLLING = {
    "up": "up",
    "down": "down",
    "pageup": "page_up",
    "pagedown": "page_down",
    "ctrl+home": "home",
    "ctrl+end": "end",
}


class HelpRows(RowWidget):
    """The page itself; `focused` is the place whose keys come first."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, focused: Where, commands: Sequence[OwnCommand]
    ) -> None:
        super().__init__(styles, glyphs, id="help-rows")
        self._focused = focused
        self._commands = commands
        self._wanted = ""
        self._made_for: dict[int, list[Text]] = {}
        """The rows for each width, until something changes."""

    def changed(self, *, layout: bool = False) -> None:
        self._made_for.clear()
        super().changed(layout=layout)

    def filter(self, words: str) -> None:
        """Show only what has all of these words in its keys, its name or its explanation."""
        self._wanted = words.casefold()
        self.changed(layout=True)

    def rows(self, width: int, height: int) -> list[Text]:
        if width not in self._made_for:
            self._made_for[width] = self._all_rows(width)
        return self._made_for[width]

    def _all_rows(self, width: int) -> list[Text]:
        places = sorted(TITLES, key=lambda where: where != self._focused)
        page: list[Text] = []
        for place, where in enumerate(places):
            if place == (self._focused in _OTHER_KEYS):
                page += self._ten(width)
            actions = [(_names(action), action) for action in ACTIONS if action.where == where]
            lines = [(names, action.help, action) for names, action in actions if names]
            page += self._part(_with_keys(TITLES[where]), lines, width)
        for kind, title in _OWN.items():
            commands = [command for command in self._commands if command.kind == kind]
            page += self._part(
                title,
                [(f"/{each.name} {each.hint}".rstrip(), each.description, None) for each in commands],
                width,
            )
        page += self._part(
            "What is different here", [(word, _with_keys(what), None) for word, what in _IDEAS], width
        )
        nothing = wrapped("Nothing here matches.", width, self.look("soft"))
        return [indented(row, _MARGIN) for row in page[:-2] or nothing]

    def _ten(self, width: int) -> list[Text]:
        """The keys to begin with; none if words are wanted, which are looked for in the rest."""
        ten = [(_names(BY_ID[action_id]), what, None) for action_id, what in _TEN.items()]
        named = [line for line in ten if line[0] and not self._wanted]
        return self._part("Ten keys to begin with", named, width)

    def _part(self, title: str, lines: Sequence[tuple[str, str, Action | None]], width: int) -> list[Text]:
        """A title and what is wanted of the lines below it; nothing where none is."""
        found = [(names, what) for names, what, action in lines if self._is_wanted(names, what, action)]
        if not found:
            return []
        rows = [row for names, what in found for row in self._lines(names, what, width)]
        return [Text(title, self.look("text", bold=True)), Text(), *rows, Text(), Text()]

    def _is_wanted(self, names: str, what: str, action: Action | None) -> bool:
        text = f"{names} {what} {action.label if action else ''} {action.id if action else ''}".casefold()
        return all(word in text for word in self._wanted.split())

    def _lines(self, first: str, then: str, width: int) -> list[Text]:
        """Two columns; each is wrapped within itself."""
        heads = textwrap.wrap(first, _KEY_COLUMN - 2)
        explained = textwrap.wrap(then, max(width - _KEY_COLUMN - 2 * _MARGIN, 20))
        count = max(len(heads), len(explained))
        return [
            Text.assemble((head.ljust(_KEY_COLUMN), self.look("text", bold=True)), (line, self.look("soft")))
            for head, line in zip(_padded(heads, count), _padded(explained, count), strict=True)
        ]


class HelpScreen(PageScreen[None]):
    """Covers the workspace until esc or the key that opened it. What is typed filters the page."""

    foot_edge = 0
    says = "elsewhere"

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        focused: Where,
        commands: Sequence[OwnCommand] = (),
        words: str = "",
    ) -> None:
        super().__init__(styles, glyphs)
        self._rows = HelpRows(styles, glyphs, focused, commands)
        placeholder = "type to find a key or what it does"
        field = Field(self.press, id="help-field", value=words, placeholder=placeholder)
        self._page = VerticalScroll(self._rows, id="help-page", can_focus=False)
        self._rows.filter(words)
        self.parts = (field, self._page, self.foot)

    def keys(self) -> Sequence[Key]:
        return (
            Key("escape", "back", self.leave),
            Key("help", does=self.leave),
            Key("up,down", "scroll"),
            *(Key(key, does=partial(self._scroll, where)) for key, where in _SCROLLING.items()),
            Key("palette", BY_ID["palette"].hint),
        )

    def typed(self, text: str) -> None:
        self._rows.filter(text)
        self._page.scroll_home(animate=False)

    def _scroll(self, where: str) -> None:
        getattr(self._page, f"scroll_{where}")(animate=False)


def _names(action: Action) -> str:
    """The keys and commands of an action, as they are written."""
    return ", ".join((*map(shown_key, keys_of(action)), *(f"/{command}" for command in action.slash)))


def _with_keys(text: str) -> str:
    """The text with the keys that it names."""
    return text.format(next_pane=shown("next_pane") or "a row of the panels", retry=shown("retry"))


def _padded(lines: list[str], count: int) -> list[str]:
    return [*lines, *[""] * (count - len(lines))]
