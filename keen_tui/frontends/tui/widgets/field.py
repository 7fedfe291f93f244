"""A line that one types into, and which leaves some keys to others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from textual import events
from textual.widgets import Input


class Field(Input):
    """An input whose keys are first offered to `press`, which says whether it took one, in the order in which
    they are pressed.

    Textual's own bindings act before letters that still wait, or after; and the input has uses of its own
    for many of these keys. For the same reason a page has only one field where it can: another one would get
    the focus, and its letters, too late.
    """

    def __init__(
        self,
        press: Callable[[str], Awaitable[bool]] | None = None,
        *,
        id: str,
        keys: Mapping[str, str] | None = None,
        value: str = "",
        placeholder: str = "",
    ) -> None:
        super().__init__(value, placeholder, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._keys = keys or {}
        self._press = press or self._act

    async def _act(self, key: str) -> bool:
        if action := self._keys.get(key):
            await self.screen.run_action(action)
        return key in self._keys

    def take_over(self, keys: Mapping[str, str], text: str) -> None:
        """From now on it gives these keys to its screen and holds this text, the cursor at its end."""
        self._keys = keys
        self.write(text)

    def write(self, text: str) -> None:
        """Hold this text, the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)

    async def on_key(self, event: events.Key) -> None:
        if await self._press(event.key):
            event.stop()
            event.prevent_default()
