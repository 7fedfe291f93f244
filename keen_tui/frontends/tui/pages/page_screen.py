"""What all pages are: parts one below the other, and keys that are declared where they are shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import ClassVar, Final, Literal, Protocol

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.screen import ScreenResultType
from textual.widget import Widget
from textual.widgets import Input

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.live_list import LiveList
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.pages.row_scroll import RowScroll
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import (
    GAP,
    DrawnRows,
    RowWidget,
    cut_row,
    indented,
    join_facts,
    key_hint,
    spread,
    wrapped,
)
from keen_tui.text.sanitize import clean

LOW: Final = 16
"""Rows of the terminal below which no blank ones stand between the parts of a page."""
EDGE: Final = 2
"""Cells beside the title and the keys."""
_LOOK_SECONDS: Final = 0.5
"""How often a list that changes by itself is looked at again."""
_FAR: Final = 1_000_000
_ROWS: Final = {"up": -1, "down": 1, "ctrl+home": -_FAR, "ctrl+end": _FAR}
_PAGES: Final = {"pageup": -1, "pagedown": 1}
_WITHOUT_FIELD: Final = {"space": "pagedown", "home": "ctrl+home", "end": "ctrl+end"}
"""Keys that do what others do where no text is written."""


class Body(Protocol):
    """What the arrow keys of a page move."""

    def move(self, step: int) -> None:
        """Choose another line, or scroll."""

    def move_page(self, pages: int) -> None:
        """The same, by pages."""


class PageScreen(KeenScreen[ScreenResultType]):
    """Covers the workspace. All is drawn again after each key: rows that look as before cost nothing.

    A subclass sets `parts` (what stands one below the other) and `body`, and says in `heading`, `said` and
    `keys` what the first and the last rows hold.
    """

    heading_edges: ClassVar[tuple[int, int]] = (EDGE, EDGE)
    """Cells to the left and to the right of the heading."""
    foot_edge: ClassVar = EDGE
    """Cells to the right of the keys."""
    drops: ClassVar[int | None] = None
    """The place of the key that is left out first where not all have room; without it the row is cut."""
    least_gap: ClassVar = len(GAP)
    """Cells between the keys and what stands beside them, at least."""
    says: ClassVar[Literal["above", "beside", "elsewhere"]] = "above"
    """Where the sentence is said: in a row above the keys, or beside them if it has room there."""
    forgets: ClassVar = True
    """Whether the next key takes the sentence away."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__()
        self.look, self.glyphs = styles, glyphs
        self.sentence = ""
        self.parts: Sequence[Widget] = ()
        self.body: Body | None = None
        self.head = DrawnRows(styles, glyphs, self._head_rows, classes="page-head")
        self.foot = DrawnRows(styles, glyphs, self._foot_rows, classes="page-foot")

    def heading(self) -> tuple[Text | str, Text | str]:
        """What stands at the left and at the right of the head."""
        return "", ""

    def keys(self) -> Sequence[Key]:
        """The keys that work now."""
        raise NotImplementedError

    def said(self, width: int) -> Sequence[Text]:
        """The rows above the keys."""
        said = Text(clean(self.sentence), self.look("soft"))
        return (cut_row(said, width, self.glyphs.more),) if self.says == "above" else ()

    def foot_rows(self, width: int) -> Sequence[Text]:
        """The last rows: what is said, the keys, and beside them the sentence or a fact where it has room."""
        keys = self.key_row(width)
        said = clean(self.sentence) if self.says == "beside" else ""
        beside = Text(said, self.look("soft")) or self.beside_keys()
        if keys.cell_len + self.least_gap + beside.cell_len <= width:
            return *self.said(width), spread(keys, beside, width, self.glyphs.more)
        return *self.said(width), *(wrapped(said, width, self.look("soft")) if said else ()), keys

    def beside_keys(self) -> Text:
        """What stands at the right of the keys, where there is room for it."""
        return Text()

    def typed(self, text: str) -> None:
        """This stands in the field now."""

    def leave(self) -> None:
        """Go back to the list, or leave the page."""
        if not (isinstance(self.body, LiveList) and self.body.close()):
            self.dismiss(None)

    def compose(self) -> ComposeResult:
        yield from self.parts

    def on_mount(self) -> None:
        if isinstance(self.body, LiveList):
            self.set_interval(_LOOK_SECONDS, self.redraw)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < LOW, "-low")

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""
        self.look, self.glyphs = styles, glyphs

    def redraw(self) -> None:
        """Draw what looks different now."""
        for part in self.parts:
            if isinstance(part, RowWidget | LiveList):
                part.changed()

    def say(self, sentence: str) -> None:
        """Say a sentence; "" takes it away."""
        self.sentence = sentence
        self.redraw()

    def forget(self) -> None:
        """What was said has been read."""
        self.sentence = ""

    def tell(self, answer: Awaitable[str]) -> None:
        """Say what comes of it, or what goes wrong."""
        self.run_worker(self._told(answer), group="answers")

    async def _told(self, answer: Awaitable[str]) -> None:
        try:
            self.say(await answer)
        except KeenError as error:
            self.say(str(error))

    async def on_key(self, event: events.Key) -> None:
        if await self.press(event.key):
            event.stop()
            event.prevent_default()

    async def press(self, key: str) -> bool:
        """Do what this key does now; False: nothing."""
        does = self._what_does(key)
        if does is None:
            return False
        if self.forgets:
            self.forget()
        does()
        self.redraw()
        return True

    def _what_does(self, key: str) -> Callable[[], object] | None:
        keys, body = self.keys(), self.body
        if does := next((each.does for each in keys if each.does and key in each.keys), None):
            return does
        if body is None or not any(each.moves for each in keys):
            return None
        if not isinstance(self.focused, Input):
            key = _WITHOUT_FIELD.get(key, key)
        if key in _PAGES:
            return partial(body.move_page, _PAGES[key])
        return partial(body.move, _ROWS[key]) if key in _ROWS else None

    @on(RowList.Moved)
    def _moved(self) -> None:
        if self.forgets:
            self.forget()
        self.redraw()

    @on(RowScroll.Moved)
    def _scrolled(self) -> None:
        self.redraw()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.typed(event.value)
        self.redraw()

    def hints(self, keys: Sequence[Key]) -> list[Text]:
        """Those keys that are shown, with what they do."""
        labels = [(key.label(self.glyphs), key.verb) for key in keys if key.verb]
        return [key_hint(self.look, label, verb) for label, verb in labels if label]

    def key_row(self, width: int) -> Text:
        """The keys in at most `width` cells."""
        hints = self.hints(self.keys())
        while self.drops is not None and len(hints) > 2 and join_facts(*hints).cell_len > width:
            del hints[self.drops]
        return cut_row(join_facts(*hints), width, self.glyphs.more)

    def _head_rows(self, width: int, height: int) -> list[Text]:
        left, right = self.heading()
        before, behind = self.heading_edges
        left = Text(left, self.look("text", bold=True)) if isinstance(left, str) else left
        right = Text(right, self.look("dim")) if isinstance(right, str) else right
        return [indented(spread(left, right, max(width - before - behind, 1), self.glyphs.more), before)]

    def _foot_rows(self, width: int, height: int) -> list[Text]:
        room = max(width - EDGE - self.foot_edge, 1)
        return [indented(row, EDGE) for row in self.foot_rows(room)]
