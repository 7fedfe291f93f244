"""A text area whose subclass decides what an edit by the keyboard replaces."""

from __future__ import annotations

from textual.binding import Binding
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location


class TypedText(TextArea):
    """Edits go through `before_writing` and `before_deleting`, whatever key or paste they come from."""

    def before_writing(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Text is about to be written in the place of that. Returns the part that it really replaces."""
        raise NotImplementedError

    def before_deleting(self, start: Location, end: Location) -> tuple[Location, Location]:
        """That is about to be deleted. Returns what really is."""
        raise NotImplementedError

    def type_over(self, text: str, start: Location, end: Location) -> EditResult | None:
        """Write text in the place of that, as from the keyboard. None: nothing can be written here."""
        return self._replace_via_keyboard(text, start, end)

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(insert, *self.before_writing(start, end))

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        return super()._delete_via_keyboard(*self.before_deleting(start, end))


def editing_actions() -> dict[str, str]:
    """What the editor itself does, by key. Its key for undo suspends the program, as everywhere."""
    return {
        key.strip(): binding.action
        for binding in TextArea.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
        if key.strip() != "ctrl+z"
    }
