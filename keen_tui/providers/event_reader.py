"""Reads the body of a successful answer as server-sent events. For every API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

from keen_tui.errors import ReplyUnreadable
from keen_tui.providers.reported import stream_error
from keen_tui.providers.sse import ServerSentEvent, SseDecoder

DOCUMENT_LIMIT = 65_536
"""Bytes read of a body that is no stream, to find the error it may hold."""


QUOTE_LIMIT = 200
"""Characters of an unreadable event that are shown."""


class EventReader:
    """Gives the events of a body as they arrive. `server` is what messages call it."""

    def __init__(self, body: AsyncIterator[bytes], content_type: str, server: str) -> None:
        self._body = body
        self._is_stream_by_type = content_type.startswith("text/event-stream")
        self._server = server
        self._decoder = SseDecoder()
        self._head = b""
        self._is_stream = False
        self._ended = False

    async def read(self, limit: float) -> Sequence[ServerSentEvent] | None:
        """The next events that say something, at least one; None at the end.

        Comments and pings only keep a connection open: they are no sign that a reply goes on.

        Raises:
            TimeoutError: nothing came for `limit` seconds.
            ProviderError: the body is no stream: a page, a JSON document, an error object.
        """
        async with asyncio.timeout(limit):
            while not self._ended:
                events = [event for event in await self._next() if event.name != "ping"]
                if events:
                    return events
        return None

    async def _next(self) -> Sequence[ServerSentEvent]:
        """The events of the next piece, maybe none."""
        piece = await anext(self._body, None)
        if piece is None:
            self._ended = True
            return self._last()
        if not self._is_stream:
            self._head += piece
            if self._looks_like_document():
                raise await self._document_error()
        events = self._decoder.feed(piece)
        if events:
            self._is_stream, self._head = True, b""
        return events

    def _last(self) -> Sequence[ServerSentEvent]:
        last = self._decoder.finish()
        if not last and self._head.strip() and not self._is_stream_by_type:
            raise ReplyUnreadable(f"{self._server} sent something that isn't a stream of events.")
        return last

    def _looks_like_document(self) -> bool:
        """No line of an event stream begins with these."""
        return self._head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"<", b"{", b"[")

    async def _document_error(self) -> Exception:
        async for piece in self._body:
            if len(self._head) > DOCUMENT_LIMIT:
                break
            self._head += piece
        try:
            document = json.loads(self._head)
        except ValueError:
            if self._head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
                return ReplyUnreadable(
                    f"{self._server} sent a page instead of a reply.", advice="Check the base URL."
                )
            return ReplyUnreadable(f"{self._server} sent JSON that can't be read.")
        if isinstance(document, dict) and not (document.get("error") or document.get("object") == "error"):
            return ReplyUnreadable(f"{self._server} sent one JSON document instead of a stream.")
        return stream_error(document, self._server)


def payload_of(event: ServerSentEvent, server: str) -> object:
    """The JSON value of an event.

    Raises:
        ProviderError: the event reports an error by its name, or as a list with an error in it.
        ReplyUnreadable: it isn't JSON.
    """
    try:
        value = json.loads(event.data)
    except (ValueError, RecursionError):
        if event.name == "error":
            raise stream_error(event.data, server) from None
        raise ReplyUnreadable(f"{server} sent an event that isn't JSON: {_quoted(event.data)}.") from None
    if event.name == "error" or _is_error_list(value):
        raise stream_error(value, server)
    return value


def _is_error_list(value: object) -> bool:
    """Google wraps its errors in a list."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and bool(first.get("error"))


def _quoted(text: str) -> str:
    words = " ".join(text[: QUOTE_LIMIT * 2].split())
    return f'"{words}"' if len(words) <= QUOTE_LIMIT else f'"{words[:QUOTE_LIMIT]}…"'
