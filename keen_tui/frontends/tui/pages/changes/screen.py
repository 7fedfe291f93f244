"""The screen of changes: the files above, the diff of the chosen one below, to read or to take back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from rich.text import Text
from textual import events

from keen_tui.domain.choices import GUARD_SECONDS
from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.changes import ShownFile, not_covered
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.changes.diff_view import DiffView
from keen_tui.frontends.tui.pages.changes.file_list import FileList
from keen_tui.frontends.tui.pages.changes.undo_foot import UndoFoot
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.tool_views.side_by_side import has_two_sides
from keen_tui.frontends.tui.transcript.places import Named, first_change
from keen_tui.frontends.tui.widgets.row_widget import GAP, cut_row
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

SIDE_BY_SIDE_FROM = 120
"""Columns from which old and new have room beside each other."""

ChangesOpener = Callable[[Sequence[Named]], Awaitable[str]]
"""Opens the first of these places that is there; gives a sentence about why none could be, else ""."""


class ChangesScreen(PageScreen[bool]):
    """With `asks` dismissed with whether to take the changes back, else with False. There is a file at
    least."""

    says = "elsewhere"
    forgets = False

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        changes: Changes,
        files: Sequence[ShownFile],
        *,
        asks: bool = False,
        opener: ChangesOpener | None = None,
        guard_seconds: float = GUARD_SECONDS,
    ) -> None:
        super().__init__(styles, glyphs)
        self._changes = changes
        self._files = files
        self._opener = opener
        self._guard_seconds = guard_seconds
        self._side_by_side = True
        self._wide = False
        self._list = self.body = FileList(styles, glyphs, files)
        self._diff = DiffView(styles, glyphs)
        self._asked = (
            UndoFoot(styles, glyphs, changes, files, lambda: self.hints(self.keys())) if asks else None
        )
        self.parts = (self.head, self._list, self._diff, self._asked or self.foot)

    def on_mount(self) -> None:
        self.set_timer(self._guard_seconds, self._lift_guard)

    def on_resize(self, event: events.Resize) -> None:
        self._wide = event.size.width >= SIDE_BY_SIDE_FROM
        self.redraw()

    def heading(self) -> tuple[Text, Text]:
        """Whose changes these are, and how many; or what went wrong with a file."""
        look, changes = self.look, self._changes
        if self.sentence:
            return Text(clean(self.sentence), look("wait")), Text()
        subject = changes.whose or (f"turn {changes.turn}" if changes.turn else "this session")
        title = Text.assemble(
            (f"Undo {subject}" if self._asked else f"Changes of {subject}", look("text", bold=True)),
            (f"{GAP}{clean(changes.title)}" if changes.title else "", look("soft")),
        )
        added, removed = sum(file.added for file in self._files), sum(file.removed for file in self._files)
        count = Text.assemble(
            ("undone" + GAP if changes.undone else "", look("soft")),
            (counted(len(self._files), "file") + GAP, look("dim")),
            (f"+{added}", look("add")),
            " ",
            (f"{self.glyphs.minus}{removed}", look("del")),
        )
        return title, count

    def keys(self) -> Sequence[Key]:
        other_view = "inline" if self._is_side_by_side else "side by side"
        keys = (
            Key("up,down", "file"),
            Key("pageup", does=lambda: self._diff.scroll_page_up(animate=False)),
            Key("pagedown,space", does=lambda: self._diff.scroll_page_down(animate=False)),
            Key("home", does=lambda: self._diff.scroll_home(animate=False)),
            Key("end", does=lambda: self._diff.scroll_end(animate=False)),
            Key("pageup,pagedown", "scroll"),
            Key("page_edit", "editor", self._edit),
            Key("page_view", other_view if self._can_choose_view else "", self._turn_view),
        )
        if self._asked is None:
            return *keys, Key("escape", "back", self.leave, "q")
        leave = Key("escape", "keep" if self._asked.can_undo else "back", self.leave, "q")
        return Key("enter", does=self._undo), leave, *keys

    def said(self, width: int) -> Sequence[Text]:
        """What is not among the changes."""
        words = Text(not_covered(self._changes.unwatched), self.look("dim"))
        return (cut_row(words, width, self.glyphs.more),) if words else ()

    def redraw(self) -> None:
        self._diff.show(self._list.line, side_by_side=self._is_side_by_side)
        super().redraw()

    def leave(self) -> None:
        """Leave everything as it is."""
        self.dismiss(False)

    @property
    def _can_choose_view(self) -> bool:
        diff = self._list.line.diff
        return self._wide and diff is not None and has_two_sides(diff)

    @property
    def _is_side_by_side(self) -> bool:
        return self._can_choose_view and self._side_by_side

    def _undo(self) -> None:
        """Take the changes back, where that was asked."""
        if self._asked and self._asked.can_undo and not self._asked.guarded:
            self.dismiss(True)

    def _turn_view(self) -> None:
        """Side by side, or one below the other; only where there is room for both, and both are there."""
        if self._can_choose_view:
            self._side_by_side = not self._side_by_side

    def _edit(self) -> None:
        """Open the chosen file in the user's editor."""
        if self._opener:
            file = self._list.line
            place = Named(file.path, first_change(file.diff) if file.diff else 0, by_call=True)
            self.tell(self._opener([place]))

    def _lift_guard(self) -> None:
        if self._asked:
            self._asked.guarded = False
            self.redraw()
