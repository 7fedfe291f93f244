"""Encodes requests as bytes. The beginning that a session's requests share is encoded once."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from keen_tui.domain.messages import NativeMessage
from keen_tui.memory.projection import AssistantText, Part, UserText
from keen_tui.providers.wire.wire_text import mended_json

_OPEN_TURNS = 3
"""Turns at the end that are encoded again each time: their messages may still be merged or marked."""


class _Beginning(NamedTuple):
    """The JSON of the messages of some parts, without brackets, made `under` some options of the API."""

    parts: tuple[Part, ...] = ()
    under: Hashable = None
    encoded: bytes = b""


class Encoder:
    """Encodes the requests of a session, each of which begins like the one before it.

    Args:
        messages: turns parts into messages of an API. After a reply, a text of the user MUST begin a new
            message.
        marked: marks the last messages of a request. It MUST change nothing before the last three messages
            that begin with a text of the user.

    Safe to use in several threads: each sees the whole beginning of some request.
    """

    def __init__(
        self,
        messages: Callable[[Sequence[Part]], Sequence[NativeMessage]],
        marked: Callable[[Sequence[NativeMessage]], Sequence[NativeMessage]],
    ) -> None:
        self._messages = messages
        self._marked = marked
        self._kept = _Beginning()

    def encoded(
        self,
        frame: Mapping[str, Any],
        list_name: str,
        parts: Sequence[Part],
        *,
        opening: Sequence[NativeMessage] = (),
        under: Hashable = None,
    ) -> bytes:
        """The JSON object `frame`, which MUST NOT be empty, with the messages under `list_name`: first
        those of the `opening`. `under` is whatever else the messages depend on."""
        seam = _seam(parts)
        listed = (
            _joined(opening),
            self._beginning(parts[:seam], under),
            _joined(self._marked(self._messages(parts[seam:]))),
        )
        head = compact_json(frame)[:-1] + b',"' + list_name.encode() + b'":['
        pieces = [piece for each in listed if each for piece in (b",", each)]
        return b"".join((head, *pieces[1:], b"]}"))  # in one go: a long session has millions of bytes

    def _beginning(self, parts: Sequence[Part], under: Hashable) -> bytes:
        kept = self._kept
        length = len(kept.parts)
        if kept.under != under or tuple(parts[:length]) != kept.parts:
            kept, length = _Beginning(under=under), 0
        if length < len(parts):
            added = _joined(self._messages(parts[length:]))
            encoded = b",".join(filter(None, (kept.encoded, added)))
            self._kept = kept = _Beginning(tuple(parts), under, encoded)
        return kept.encoded


def _seam(parts: Sequence[Part]) -> int:
    """The position where the newest turns begin: a text of the user follows a reply there."""
    turns = 0
    for place in range(len(parts) - 1, 0, -1):
        before, part = parts[place - 1], parts[place]
        if isinstance(part, UserText) and isinstance(before, AssistantText):
            turns += bool(part.text.strip() and before.text.strip())
            if turns == _OPEN_TURNS:
                return place
    return 0


def _joined(messages: Iterable[NativeMessage]) -> bytes:
    return b",".join(map(compact_json, messages))


def compact_json(value: Any) -> bytes:
    """Compact UTF-8 JSON; invalid characters are mended."""
    try:
        return _dumped(value).encode()
    except UnicodeEncodeError:
        return _dumped(mended_json(value)).encode()


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
