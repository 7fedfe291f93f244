"""The block cursor: with the focus, keys move it from block to block and act on the block it stands on."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from keen_tui.ui.transcript.blocks import source
from keen_tui.ui.transcript.copying import CopyingView


class CursorView(CopyingView, can_focus=True):
    """A view with a block cursor: up and down move it, enter folds its block, ctrl+y copies it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Block above", show=False),
        Binding("down,j", "cursor(1)", "Block below", show=False),
        Binding("enter", "fold", "Fold or unfold", show=False),
        Binding("ctrl+y", "copy_block", "Copy", show=False),
    ]

    _cursor: int | None = None

    def on_focus(self) -> None:
        self._ensure_cursor()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_cursor(self, step: int) -> None:
        """Move the block cursor, and scroll so far that its block is seen."""
        cursor = self._ensure_cursor()
        if cursor is None:
            return
        self._cursor = min(max(cursor + step, 0), len(self._document) - 1)
        self._scroll_to_cursor(self._cursor)
        self.refresh()

    def action_fold(self) -> None:
        if self._cursor is not None and self._document.toggle(self._cursor):
            # What is unfolded in view must not be pushed out of it.
            self.following = False
            self._settle()
            self._stopped()

    def action_copy_block(self) -> None:
        if self._cursor is None:
            return
        self._copy(iter((source(self._document.entries[self._cursor].block),)))

    def _ensure_cursor(self) -> int | None:
        """The block under the cursor; it begins on the last one in view."""
        if self._cursor is None and len(self._document):
            self._cursor = self._document.find(self.scroll_offset.y + self._viewport - 1).block
        return self._cursor

    def _scroll_to_cursor(self, index: int) -> None:
        top = self._document.top(index)
        height = self._document.height(index)
        first = self.scroll_offset.y
        if top < first:
            self._scroll_rows(top - first)
        elif top + height > first + self._viewport:
            self._scroll_rows(min(top + height - first - self._viewport, top - first))
