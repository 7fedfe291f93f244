"""The keys of a page, declared where they are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from keen_tui.frontends.shared.commands.actions import BY_ID
from keen_tui.frontends.tui.keys.keymap import keys_of, shown, shown_key
from keen_tui.frontends.tui.look.glyphs import Glyphs

_UP_DOWN: Final = "up,down"


class Key(Struct, frozen=True):
    """A key of a page, or several with a comma between them: an id of an action, or a key that is always the
    same.

    The row of keys shows it with its `verb`, and not without one; `hidden` are keys that do the same. With
    `up,down` all keys that move act on the body of the page.
    """

    key: str
    verb: str = ""
    does: Callable[[], object] | None = None
    hidden: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys in use."""
        names = filter(None, (*self.key.split(","), *self.hidden.split(",")))
        return tuple(key for name in names for key in (keys_of(BY_ID[name]) if name in BY_ID else (name,)))

    @property
    def moves(self) -> bool:
        """Whether it stands for the keys that move."""
        return self.key == _UP_DOWN

    def label(self, glyphs: Glyphs) -> str:
        """The key in the row of keys; "" if the action has none."""
        arrows = {"up": glyphs.up, "down": glyphs.down, "left": glyphs.left, "right": glyphs.right}
        names = self.key.split(",")
        label = ", ".join(arrows.get(name) or (shown if name in BY_ID else shown_key)(name) for name in names)
        pairs = ((glyphs.up, glyphs.down), (glyphs.left, glyphs.right))
        for one, other in pairs:
            label = label.replace(f"{one}, {other}", one + other)
        return label


MOVES: Final = Key(_UP_DOWN)
"""The keys that move, where the row of keys doesn't show them."""
