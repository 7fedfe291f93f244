"""A sequence that never changes and yet grows at its end for the price of what is added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar, cast, overload

T = TypeVar("T")


class Trail(Sequence[T]):
    """An immutable sequence for long stories: one more item, or another last one, costs O(1).

    Trails that grew from one another share a list, each of them as much of it as there was when it was made.
    The last item is a trail's own. Only a trail that grows where another one has grown already copies.
    """

    __slots__ = ("_last", "_length", "_shared")

    def __init__(self, items: Iterable[T] = ()) -> None:
        shared = list(items)
        self._length = len(shared)
        self._last: T | None = shared.pop() if shared else None
        self._shared = shared

    def plus(self, items: Sequence[T]) -> Trail[T]:
        """With these behind it."""
        if not (items and self._length):
            return Trail(items) if items else self
        shared = self._shared
        if len(shared) >= self._length:  # another one has grown from here
            shared = shared[: self._length - 1]
        shared.append(cast("T", self._last))
        shared.extend(items[:-1])
        return self._with(shared, self._length + len(items), items[-1])

    def with_last(self, item: T) -> Trail[T]:
        """With `item` in the place of the last one, which there must be."""
        return self._with(self._shared, self._length, item)

    def mapped(self, change: Callable[[T], T], start: int = 0) -> Trail[T]:
        """With every item from `start` on changed. Costs O(n)."""
        return Trail((*islice(self, start), *map(change, self.since(start))))

    def since(self, start: int) -> list[T]:
        """The items from `start` on: costs what they are, however long the trail is."""
        if start >= self._length:
            return []
        return [*self._shared[start : self._length - 1], cast("T", self._last)]

    def same_as(self, other: Trail[T]) -> int:
        """How many of the first items are the very same in both, as far as that is known at once."""
        length = min(self._length, other._length)
        if self._shared is not other._shared or not length:
            return length if self is other else 0
        return length if self[length - 1] is other[length - 1] else length - 1

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(self._length)))
        place = index + self._length if index < 0 else index
        if not 0 <= place < self._length:
            raise IndexError(index)
        return cast("T", self._last) if place == self._length - 1 else self._shared[place]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        if self._length:
            yield from islice(self._shared, self._length - 1)
            yield cast("T", self._last)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trail | tuple) or len(other) != self._length:
            return False
        start = self.same_as(other) if isinstance(other, Trail) else 0
        return all(self[place] == other[place] for place in range(start, self._length))

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up

    def __repr__(self) -> str:
        return f"Trail({list(self)!r})"

    @staticmethod
    def _with(shared: list[T], length: int, last: T) -> Trail[T]:
        trail = Trail[T]()
        trail._shared, trail._length, trail._last = shared, length, last
        return trail
