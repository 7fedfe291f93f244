"""Reads the body of a successful answer as server-sent events. For every API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

from keen_tui.domain.errors import NotAStream, ReplyUnreadable
from keen_tui.providers.wire.reported import stream_error
from keen_tui.providers.wire.sse import ServerSentEvent, SseDecoder

DOCUMENT_LIMIT = 65_536
"""Bytes that are read of a body that isn't a stream, to find an error in it."""


LONG = 262_144
"""Bytes or characters from which on a thread does the work: on the event loop it would be noticeable."""

_BOM = b"\xef\xbb\xbf"

QUOTE_LIMIT = 200
"""Characters of an unreadable event that are shown."""

PAUSE: Final = 0.016
"""Seconds in which pieces may gather, about half of the time between two pictures."""
_READ_AS_THEY_COME: Final = 32
"""Pieces at the beginning of a reply that are read at once: a short one isn't worth a pause."""
_THERE_ALREADY: Final = 0.000_5
"""A piece that takes longer than these seconds had to be waited for."""
_MANY: Final = 64
"""So many pieces since the last wait gather by themselves: a reply that comes so fast needs no pause."""


class EventReader:
    """Returns the events of a body as they arrive. `server` is its name in messages."""

    def __init__(self, body: AsyncIterator[bytes], content_type: str, server: str) -> None:
        self._body = body
        self._is_stream_by_type = content_type.startswith("text/event-stream")
        self._server = server
        self._decoder = SseDecoder()
        self._pace = ReadPace()
        self._pause = 0.0
        self._head = b""
        self._has_begun = False
        self._has_events = False
        self._ended = False

    async def read(self, limit: float) -> Sequence[ServerSentEvent] | None:
        """The next events with content, at least one; None at the end.

        Comments and pings only keep a connection open; they don't show that a reply continues.

        Raises:
            TimeoutError: nothing came for `limit` seconds, apart from the pause that lets pieces gather.
            ProviderError: the body isn't a stream but a web page, a JSON document or an error object.
        """
        if self._pause:
            await asyncio.sleep(self._pause)
        async with asyncio.timeout(limit):
            while not self._ended:
                events = [event for event in await self._next() if event.name != "ping"]
                if events:
                    return events
        return None

    async def _next(self) -> Sequence[ServerSentEvent]:
        """The events of the next piece, possibly none."""
        piece = await self._piece()
        if piece is None:
            self._ended = True
            return self._last()
        if not self._has_begun:
            await self._look_at_beginning(piece)
        events = await self._decoded(piece)
        self._has_events = self._has_events or bool(events)
        return events

    async def _piece(self) -> bytes | None:
        """The next piece of the body; None at its end."""
        clock = asyncio.get_running_loop().time
        begin = clock()
        piece = await anext(self._body, None)
        self._pause = self._pace.pause_after(clock() - begin)
        return piece

    async def _look_at_beginning(self, piece: bytes) -> None:
        """Check the first bytes with content. Raises ProviderError if no line of a stream can begin with
        them."""
        self._head = (self._head + piece).removeprefix(_BOM).lstrip()
        self._has_begun = not _BOM.startswith(self._head)
        if self._head[:1] in (b"<", b"{", b"["):
            raise await self._document_error()
        if self._has_begun:
            self._head = b""

    async def _decoded(self, piece: bytes) -> Sequence[ServerSentEvent]:
        """The events that end in this piece; a thread reads long ones."""
        ends_line = b"\n" in piece or b"\r" in piece
        if ends_line and self._decoder.held + len(piece) > LONG:
            return await asyncio.to_thread(self._decoder.feed, piece)
        return self._decoder.feed(piece)

    def _last(self) -> Sequence[ServerSentEvent]:
        last = self._decoder.finish()
        if self._has_begun and not (last or self._has_events or self._is_stream_by_type):
            raise NotAStream(f"{self._server} sent something that isn't a stream of events.")
        return last

    async def _document_error(self) -> Exception:
        async for piece in self._body:
            if len(self._head) > DOCUMENT_LIMIT:
                break
            self._head += piece
        try:
            document = json.loads(self._head)
        except ValueError:
            if self._head.startswith(b"<"):
                return NotAStream(
                    f"{self._server} sent a page instead of a reply.", advice="Check the base URL."
                )
            return NotAStream(f"{self._server} sent JSON that can't be read.")
        if isinstance(document, dict) and not (document.get("error") or document.get("object") == "error"):
            return NotAStream(
                f"{self._server} sent one JSON document instead of a stream.",
                advice="Keen needs a server that streams.",
            )
        return stream_error(document, self._server)


def payload_of(event: ServerSentEvent, server: str) -> object:
    """The JSON value of an event.

    Raises:
        ProviderError: the event reports an error by its name, or as a list with an error in it.
        ReplyUnreadable: it isn't JSON.
    """
    try:
        value = _json_of(event.data)
    except (ValueError, RecursionError):
        if event.name == "error":
            raise stream_error(event.data, server) from None
        raise ReplyUnreadable(f"{server} sent an event that isn't JSON: {_quoted(event.data)}.") from None
    if event.name == "error" or _is_error_list(value):
        raise stream_error(value, server)
    return value


def _json_of(text: str) -> object:
    """The value of a JSON text. msgspec reads it four times as fast as `json`, which reads what msgspec
    refuses: NaN, numbers beyond a float, and halves of surrogate pairs.

    Raises:
        ValueError, RecursionError: it isn't JSON, or is nested too deeply.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return json.loads(text)


def _is_error_list(value: object) -> bool:
    """Google wraps its errors in a list."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and bool(first.get("error"))


def _quoted(text: str) -> str:
    words = " ".join(text[: QUOTE_LIMIT * 2].split())
    return f'"{words}"' if len(words) <= QUOTE_LIMIT else f'"{words[:QUOTE_LIMIT]}…"'


class ReadPace:
    """The pauses in the reading of one reply.

    Waiting for a small piece costs about as much as reading it. So when all pieces that came have been read
    and the next one had to be waited for, there is a pause before the one after it. There is none if at most
    one piece would gather in it.
    """

    def __init__(self) -> None:
        self._pieces = 0
        self._since_wait = 0

    def pause_after(self, waited: float) -> float:
        """Seconds to pause between a piece that took `waited` seconds to come and the next one."""
        self._pieces += 1
        self._since_wait += 1
        if waited <= _THERE_ALREADY:
            return 0.0
        came, self._since_wait = self._since_wait, 0
        gathers = self._pieces > _READ_AS_THEY_COME and came < _MANY and waited < PAUSE / 2
        return PAUSE if gathers else 0.0
