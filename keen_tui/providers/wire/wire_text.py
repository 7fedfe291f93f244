"""Makes text sendable: UTF-8 has no lone surrogates, but JSON escapes can contain them."""

from __future__ import annotations

import codecs
from typing import Any


def mended(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def mended_json(value: Any) -> Any:
    """A copy of a JSON value with every string mended, keys included."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, dict):
        return {mended_json(key): mended_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [mended_json(each) for each in value]
    return value


class PieceMender:
    """Mends text that arrives in pieces: half a surrogate pair waits for the other half."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")

    def feed(self, piece: str) -> str:
        """The whole part of the piece, mended."""
        if piece.isascii() and not self._decoder.getstate()[0]:
            return piece
        return self._decoder.decode(piece.encode("utf-16-le", "surrogatepass"))

    def finish(self) -> str:
        """The text that was still held back."""
        return self._decoder.decode(b"", final=True)
