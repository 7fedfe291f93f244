"""The welcome, in place of the transcript until the first message: the name, a greeting, three keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from keen_tui.domain.choices import Mode
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, wrapped

_WIDTH = 72
_KEY_COLUMN = 9
_VERB_COLUMN = 17
_WORDMARK = ("█▄▀ █▀▀ █▀▀ █▄ █", "█ █ ██▄ ██▄ █ ▀█")
_CLAIM = ("a coding agent that remembers outcomes", "and never repeats finished work")
_GREETING = "Say what you want done in this folder."
_PROMISES: Final[Mapping[Mode, str]] = {
    "ask": "Keen reads, edits and runs commands. Before it changes anything, it shows you and asks.",
    "auto-edit": "Keen reads and edits here, and runs commands in the sandbox where there is one, without "
    "asking. It asks before anything else.",
    "plan": "Keen reads here and proposes a plan. Nothing is changed before you accept it.",
    "auto": "Keen reads, edits and runs commands without asking.",
}
"""Each mode, explained to somebody who hasn't sent a message yet."""
_KEYS = (
    ("retry", "retry", "picks up where a turn broke off"),
    ("sidebar", "Activity", "every call live, with its output"),
    ("fold_memory", "TurnMemory", "what later turns will know"),
)


class Welcome(RowWidget):
    """A greeting between the name and the keys, as much of it as fits."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="welcome")
        self._mode: Mode = "ask"

    def show_mode(self, mode: Mode) -> None:
        """Promise what this mode does."""
        if mode != self._mode:
            self._mode = mode
            self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        room = min(_WIDTH, width - 6)
        parts = [
            brand_rows(self.look, self.glyphs, room),
            self._greeting(room),
            different_rows(self.look, room, self.glyphs.more),
        ]
        gap = [Text()] * (2 if height > 22 else 1)
        while len(parts) > 1 and sum(len(part) + len(gap) for part in parts) - len(gap) > height:
            parts.pop()
        page = parts[0]
        for part in parts[1:]:
            page = [*page, *gap, *part]
        left = max((width - room) // 2, 4)
        above = max((height - len(page)) // 2, 0)
        return [Text()] * above + [indented(row, left) for row in page]

    def _greeting(self, room: int) -> list[Text]:
        greeting = [Text(row.plain, self.look("text", bold=True)) for row in self._wrapped(_GREETING, room)]
        return [*greeting, *self._wrapped(_PROMISES[self._mode], room)]

    def _wrapped(self, line: str, room: int) -> list[Text]:
        return wrapped(line, room, self.look("soft"))


def brand_rows(look: Styles, glyphs: Glyphs, room: int) -> list[Text]:
    """The name and the claim."""
    if glyphs.ascii or room < 60:
        return [Text("keen", look("accent", bold=True)), *(Text(line, look("text")) for line in _CLAIM)]
    return [
        Text.assemble((mark, look("accent")), " " * 4, (claim, look("text")))
        for mark, claim in zip(_WORDMARK, _CLAIM, strict=True)
    ]


def different_rows(look: Styles, room: int, more: str) -> list[Text]:
    """The three keys that teach what is different."""
    rows = [Text("What is different here", look("text", bold=True)), Text()]
    for action_id, verb, what in _KEYS:
        verb_column = _VERB_COLUMN if room >= 66 else len("TurnMemory") + 2
        row = Text.assemble(
            (shown(action_id).ljust(_KEY_COLUMN), look("text", bold=True)),
            (verb.ljust(verb_column), look("text")),
            (what, look("soft")),
        )
        rows.append(cut_row(row, room, more))
    return rows
