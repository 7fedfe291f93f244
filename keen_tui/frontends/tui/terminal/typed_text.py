"""A text area whose subclass decides what an edit by the keyboard replaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textual.binding import Binding
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location

from keen_tui.frontends.tui.terminal.killed_text import KilledText


class TypedText(TextArea):
    """Edits go through `before_writing` and `before_deleting`, whatever key or paste they come from. What is
    deleted to an end of the line or by words can be yanked."""

    _killed: KilledText | None = None
    _is_killing = False

    def before_writing(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Text is about to be written in the place of that. Returns the part that it really replaces."""
        raise NotImplementedError

    def before_deleting(self, start: Location, end: Location) -> tuple[Location, Location]:
        """That is about to be deleted. Returns what really is."""
        raise NotImplementedError

    def type_over(self, text: str, start: Location, end: Location) -> EditResult | None:
        """Write text in the place of that, as from the keyboard. None: nothing can be written here."""
        return self._replace_via_keyboard(text, start, end)

    def insert_here(self, text: str) -> None:
        """Write text in the place of what is selected, as from the keyboard."""
        if result := self.type_over(text, *self.selection):
            self.move_cursor(result.end_location)

    def action_yank(self) -> None:
        """Write the killed text at the cursor."""
        if self._killed:
            self.insert_here(self._killed.text)

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        with self._killing():
            await super().action_delete_to_end_of_line_or_delete_line()

    def action_delete_to_start_of_line(self) -> None:
        with self._killing():
            super().action_delete_to_start_of_line()

    def action_delete_word_left(self) -> None:
        with self._killing():
            super().action_delete_word_left()

    def action_delete_word_right(self) -> None:
        with self._killing():
            super().action_delete_word_right()

    def action_delete_line(self) -> None:
        with self._killing():
            super().action_delete_line()

    @contextmanager
    def _killing(self) -> Iterator[None]:
        """Inside, what is deleted can be yanked."""
        was, self._is_killing = self._is_killing, True
        try:
            yield
        finally:
            self._is_killing = was

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(insert, *self.before_writing(start, end))

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        was = (self.text, self.cursor_location) if self._is_killing else None
        first, last = self.before_deleting(start, end)
        result = super()._delete_via_keyboard(first, last)
        if was and result:
            self._killed = self._killed or KilledText()
            left = (self.text, self.cursor_location)
            self._killed.add(result.replaced_text, was=was, left=left, before=max(first, last) == was[1])
        return result


def editing_actions() -> dict[str, str]:
    """Returns the actions of the editor itself, by key, without its undo: ctrl+z suspends the program, as
    everywhere."""
    return {
        key.strip(): binding.action
        for binding in TextArea.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
        if key.strip() != "ctrl+z"
    }
