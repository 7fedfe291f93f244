"""The screen of changes: the files above, the diff of the chosen one below, to read or to take back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.domain.choices import GUARD_SECONDS
from keen_tui.domain.reports import Changes
from keen_tui.frontends.shared.changes import ShownFile
from keen_tui.frontends.tui.keys.keymap import same_key
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.changes.diff_view import DiffView
from keen_tui.frontends.tui.pages.changes.file_list import FileList
from keen_tui.frontends.tui.pages.changes.words import ChangesHead, ReadingFoot, UndoFoot
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.tool_views.side_by_side import has_two_sides
from keen_tui.frontends.tui.transcript.places import Named, first_change

SIDE_BY_SIDE_FROM = 120
"""Columns from which old and new have room beside each other."""

_LOW = 16

ChangesOpener = Callable[[Sequence[Named]], Awaitable[str]]
"""Opens the first of these places that is there; gives a sentence about why none could be, else ""."""


class ChangesScreen(KeenScreen[bool]):
    """With `asks` dismissed with whether to take the changes back, else with False. There is a file at
    least."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", show=False),
        Binding("enter", "undo", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "scroll_diff('page_up')", show=False),
        Binding("pagedown,space", "scroll_diff('page_down')", show=False),
        Binding("home", "scroll_diff('home')", show=False),
        Binding("end", "scroll_diff('end')", show=False),
        same_key("page_view", "other_view"),
        same_key("page_edit", "open_file"),
    ]

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
        super().__init__()
        self._guard_seconds = guard_seconds
        self._opener = opener
        self._side_by_side = True
        self._wide = False
        self._head = ChangesHead(styles, glyphs, changes, files, asks=asks)
        self._list = FileList(styles, glyphs, files)
        self._diff = DiffView(styles, glyphs)
        self._foot: ReadingFoot | UndoFoot = (
            UndoFoot(styles, glyphs, changes, files)
            if asks
            else ReadingFoot(styles, glyphs, changes.unwatched)
        )

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._list
        yield self._diff
        yield self._foot

    def on_mount(self) -> None:
        self.set_timer(self._guard_seconds, self._lift_guard)

    def on_resize(self, event: events.Resize) -> None:
        self._wide = event.size.width >= SIDE_BY_SIDE_FROM
        self.set_class(event.size.height < _LOW, "-low")
        self._show()

    def action_back(self) -> None:
        """Leave everything as it is."""
        self.dismiss(False)

    def action_undo(self) -> None:
        """Take the changes back, where that was asked."""
        foot = self._foot
        if isinstance(foot, UndoFoot) and foot.can_undo and not foot.guarded:
            self.dismiss(True)

    def action_move(self, step: int) -> None:
        """Choose another file."""
        self._list.move(step)

    def action_scroll_diff(self, where: str) -> None:
        """Scroll the diff: page_up, page_down, home or end."""
        getattr(self._diff, f"scroll_{where}")(animate=False)

    def action_other_view(self) -> None:
        """Side by side, or one below the other; only where there is room for both, and both are there."""
        if self._can_choose_view:
            self._side_by_side = not self._side_by_side
            self._show()

    def action_open_file(self) -> None:
        """Open the chosen file in the user's editor."""
        if self._opener:
            self.run_worker(self._open(self._opener), name="editor", group="editor", exclusive=True)

    async def _open(self, opener: ChangesOpener) -> None:
        file = self._list.chosen
        line = first_change(file.diff) if file.diff else 0
        self._head.problem = await opener([Named(file.path, line, by_call=True)])
        self._head.changed()

    @on(FileList.Moved)
    def _show(self) -> None:
        can_choose = self._can_choose_view
        side_by_side = can_choose and self._side_by_side
        self._diff.show(self._list.chosen, side_by_side=side_by_side)
        self._foot.other_view = ("inline" if side_by_side else "side by side") if can_choose else ""
        self._foot.changed()

    @property
    def _can_choose_view(self) -> bool:
        diff = self._list.chosen.diff
        return self._wide and diff is not None and has_two_sides(diff)

    def _lift_guard(self) -> None:
        if isinstance(self._foot, UndoFoot):
            self._foot.guarded = False
            self._foot.changed()
