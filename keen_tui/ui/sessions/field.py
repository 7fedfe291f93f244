"""The line that one types into on the screen of sessions."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.widgets import Input


class Field(Input):
    """An input that gives some keys to its screen, as actions, in the order in which they are pressed.

    Textual's own bindings act before letters that still wait, or after; and the input has uses of its own
    for many of these keys.
    """

    def __init__(self, *, id: str, keys: Mapping[str, str], placeholder: str = "", value: str = "") -> None:
        super().__init__(value, id=id, compact=True, placeholder=placeholder, select_on_focus=False)
        self.cursor_blink = False
        self._keys = keys

    async def _on_key(self, event: events.Key) -> None:
        if action := self._keys.get(event.key):
            event.stop()
            event.prevent_default()
            await self.screen.run_action(action)
