"""An LRU cache."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")


class Recent(Generic[Key, Thing]):
    """Keeps the `most` things that were used last.

    Unlike Textual's LRUCache it takes another thing for a key that it has: what is drawn here changes.
    """

    __slots__ = ("_kept", "_most")

    def __init__(self, most: int) -> None:
        self._kept: OrderedDict[Key, Thing] = OrderedDict()
        self._most = most

    def get(self, key: Key) -> Thing | None:
        """The thing of that key, which counts as used now; None: it is not kept."""
        thing = self._kept.get(key)
        if thing is not None:
            self._kept.move_to_end(key)
        return thing

    def keep(self, key: Key, thing: Thing) -> None:
        """Keep a thing, in the place of the one that the key had; the one used longest ago may go."""
        self._kept[key] = thing
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Keep nothing."""
        self._kept.clear()
