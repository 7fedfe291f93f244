"""Values that are kept compressed in memory: long texts that are seldom asked for."""

from __future__ import annotations

import pickle
import zlib
from typing import Final, Generic, TypeVar, cast

T = TypeVar("T")

_LONG: Final = 500
"""Bytes from which on compressing saves more than it costs."""

_LEVEL: Final = 1
"""The fastest. Higher levels take up to three times as long and save a tenth more."""


class Packed(Generic[T]):
    """A value that was compressed. Source code takes a third of its size, and 5 to 15 µs per kB to unpack."""

    __slots__ = ("_content",)

    def __init__(self, content: bytes) -> None:
        self._content = content

    @property
    def value(self) -> T:
        """The value: an equal one, made anew each time."""
        return cast("T", pickle.loads(zlib.decompress(self._content)))


def packed(value: T) -> Packed[T] | T:
    """The value, compressed if it is long. It MUST be something that `pickle` can copy. If it is nested too
    deeply for that, it stays as it is."""
    try:
        content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        return value
    return Packed(zlib.compress(content, _LEVEL)) if len(content) >= _LONG else value


def unpacked(value: Packed[T] | T) -> T:
    """What was packed."""
    return value.value if isinstance(value, Packed) else value
