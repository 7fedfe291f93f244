"""From whatever an SDK or its HTTP client raises to our own exceptions. One file for all APIs."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

from keen_tui.config import is_loopback
from keen_tui.errors import (
    AuthFailed,
    ConnectionFailed,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
    StreamCut,
    StreamStalled,
)
from keen_tui.masking import MASK, masked
from keen_tui.providers.reported import status_error

MESSAGE_LIMIT = 400
"""Characters of a message that are shown."""


class ErrorTranslator(Struct, frozen=True, kw_only=True):
    """Knows what messages about one server may and may not say.

    `server` names it, `address` is its host:port, `key_source` where the key came from; `key` itself is
    only ever taken out of texts.
    """

    server: str
    address: str
    key_source: str
    key: str
    stall_seconds: float

    def __repr__(self) -> str:
        """Without the key."""
        return f"ErrorTranslator({self.server!r} at {self.address!r})"

    def translated(self, error: Exception, *, in_body: bool) -> ProviderError:
        """The exception to raise instead. `in_body`: the reply had begun when it was raised."""
        plain = error if isinstance(error, ProviderError) else self._ours(error, in_body)
        return self._worded(plain)

    def _worded(self, error: ProviderError) -> ProviderError:
        """The same error with keys masked and cut to a readable length (in this order, or half a key would
        stay), and for a refused key with the place it came from."""
        message = _cut(self.masked(str(error)))
        if isinstance(error, AuthFailed):
            sent = "the key came from" if self.key else "no key was sent: set"
            message = f"{message} ({sent} {self.key_source})"
        return type(error)(message, retry_after=error.retry_after)

    def masked(self, text: str) -> str:
        """The text without this server's key and without anything that looks like a key."""
        return masked(text.replace(self.key, MASK) if self.key else text)

    def _ours(self, error: Exception, in_body: bool) -> ProviderError:
        status = getattr(error, "status_code", None)
        response = getattr(error, "response", None)
        if isinstance(status, int) and response is not None:
            return status_error(status, response.headers, getattr(error, "body", None), self.server)
        if isinstance(error, TimeoutError):
            return self._stalled()
        import httpx2  # noqa: PLC0415  (loaded with the SDK, never before it)

        for cause in _chain(error):
            if isinstance(cause, httpx2.TimeoutException):
                return self._timed_out(cause)
            if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL | httpx2.LocalProtocolError):
                return RequestRefused(f"The base URL of {self.server} can't be used: {_first_line(cause)}")
            if isinstance(cause, httpx2.DecodingError):
                return ReplyUnreadable(f"{self.server} sent a reply that can't be decompressed.")
            if isinstance(cause, httpx2.TransportError):
                return self._lost(cause, in_body)
        return ProviderError(f"The request to {self.server} failed: {_first_line(error)}")

    def _timed_out(self, error: Exception) -> ProviderError:
        import httpx2  # noqa: PLC0415

        if isinstance(error, httpx2.ConnectTimeout):
            return self.unreachable("no answer to the connection")
        return self._stalled()

    def _stalled(self) -> ProviderError:
        return StreamStalled(f"{self.server} sent nothing for {self.stall_seconds:g} s.")

    def _lost(self, error: Exception, in_body: bool) -> ProviderError:
        if in_body:
            return StreamCut(f"The connection to {self.address} broke in the middle of the reply.")
        return self.unreachable(_why_unreachable(error))

    def unreachable(self, why: str) -> ConnectionFailed:
        """There is no connection, and what to do about it."""
        local = is_loopback(f"http://{self.address}")
        what_to_do = "Is the server running?" if local else "Check the network and the base URL."
        return ConnectionFailed(f"Can't reach {self.address}: {why}. {what_to_do}")


def host_and_port(base_url: str) -> tuple[str, str]:
    """What the server is called on screen, and its host:port. "https://a.example/v1" -> "a.example",
    "a.example:443". Never raises: a base URL that is none is returned as it is."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return base_url, base_url
    default = 80 if parts.scheme == "http" else 443
    return (f"{host}:{port}" if port else host), f"{host}:{port or default}"


def _why_unreachable(error: Exception) -> str:
    for cause in _chain(error):
        match cause:
            case socket.gaierror():
                return "the name is not known"
            case ssl.SSLError():
                return f"TLS failed ({cause.reason or _first_line(cause)})"
            case ConnectionRefusedError():
                return "connection refused"
    return _first_line(error) if str(error) else "the connection was reset"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, outermost first. Exception groups are looked into."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        if isinstance(seen, BaseExceptionGroup):
            for each in seen.exceptions:
                yield from _chain(each)
        seen = seen.__cause__ or seen.__context__


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_LIMIT else text[:MESSAGE_LIMIT] + "…"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")
