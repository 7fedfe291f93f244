"""Content as it arrives, unpacked piece by piece, never more than a limit. Pure."""

from __future__ import annotations

import zlib
from typing import Final

from keen_tui.domain.errors import ToolFailure

ENCODINGS: Final = "gzip, deflate"
"""The encodings that are asked for: those whose unpacking can be stopped at any byte."""

_GZIP: Final = 16 + zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS
_NAMES: Final = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}


class Unpacked:
    """The content of one answer, up to `most` bytes.

    Args:
        encoding: the header Content-Encoding.
        most: bytes that are kept.

    Raises:
        ToolFailure: an encoding that wasn't asked for.
    """

    def __init__(self, encoding: str, most: int) -> None:
        names = [
            name for each in encoding.lower().split(",") if (name := each.strip()) not in ("", "identity")
        ]
        if len(names) > 1 or any(name not in _NAMES for name in names):
            raise ToolFailure(
                f"the page is packed in a way that Keen didn't ask for ({', '.join(names)[:80]})."
            )
        self._most = most
        self._unpacker = zlib.decompressobj(_NAMES[names[0]]) if names else None
        self._may_be_raw = names == ["deflate"]
        self._content = bytearray()
        self.received = 0
        """Bytes that arrived, packed."""

    @property
    def content(self) -> bytes:
        """The content so far, at most the limit."""
        return bytes(self._content[: self._most])

    @property
    def is_full(self) -> bool:
        """Whether there is more than fits: reading on is useless."""
        return len(self._content) > self._most

    def feed(self, chunk: bytes) -> None:
        """Add bytes as they arrived. Raises ToolFailure if they can't be unpacked."""
        self.received += len(chunk)
        room = self._most + 1 - len(self._content)
        if room <= 0:
            return
        if self._unpacker is None:
            self._content += chunk[:room]
            return
        try:
            self._content += self._unpacker.decompress(chunk, room)
        except zlib.error as error:
            if not self._may_be_raw or self._content:
                raise ToolFailure("the page is damaged: it can't be unpacked.") from error
            self._unpacker, self._may_be_raw = zlib.decompressobj(_RAW), False
            self.received -= len(chunk)
            self.feed(chunk)
