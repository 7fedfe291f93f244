"""A line that one types into, and which leaves some keys to its screen."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.widgets import Input


class Field(Input):
    """An input that gives some keys to its screen, as actions, in the order in which they are pressed.

    Textual's own bindings act before letters that still wait, or after; and the input has uses of its own
    for many of these keys. For the same reason there is only one field: `take_over` gives it other keys and
    another text, while another one would get the focus, and its letters, too late.
    """

    def __init__(self, *, id: str, keys: Mapping[str, str], value: str = "") -> None:
        super().__init__(value, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._keys = keys

    def take_over(self, keys: Mapping[str, str], text: str) -> None:
        """From now on it gives these keys to its screen and holds this text, the cursor at its end."""
        self._keys = keys
        self.write(text)

    def write(self, text: str) -> None:
        """Hold this text, the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)

    async def on_key(self, event: events.Key) -> None:
        if action := self._keys.get(event.key):
            event.stop()
            event.prevent_default()
            await self.screen.run_action(action)
