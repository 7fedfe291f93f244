"""The keys of a page, declared where they are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from keen_tui.frontends.shared.commands.actions import BY_ID
from keen_tui.frontends.tui.keys.keymap import keys_of, shown, shown_key
from keen_tui.frontends.tui.look.glyphs import Glyphs

PAGES: Final = "pageup,pagedown"
_UP_DOWN: Final = "up,down"


class Key(Struct, frozen=True):
    """What a key does on a page: `key` is the id of an action, or a key that is always the same.

    The row of keys shows it with its `verb`, and not without one. `up,down` moves in the body, with all other
    keys that do so; of other keys with a comma between them the first is shown, but both of `PAGES`.
    """

    key: str
    verb: str = ""
    does: Callable[[], object] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys in use."""
        action = BY_ID.get(self.key)
        return keys_of(action) if action else tuple(self.key.split(","))

    @property
    def moves(self) -> bool:
        """Whether it stands for the keys that move."""
        return self.key == _UP_DOWN

    def label(self, glyphs: Glyphs) -> str:
        """How the row of keys calls it; "" where no key is left for it."""
        if self.key in BY_ID:
            return shown(self.key)
        arrows = {"up": glyphs.up, "down": glyphs.down, "left": glyphs.left, "right": glyphs.right}
        together = "".join(arrows.get(key, "") for key in self.keys)
        return together or ", ".join(map(shown_key, self.keys if self.key == PAGES else self.keys[:1]))


MOVES: Final = Key(_UP_DOWN)
"""The keys that move, where the row of keys doesn't show them."""
