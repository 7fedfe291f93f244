"""Turns the exceptions of the SDKs and their HTTP clients into our own. One file for all APIs."""

from __future__ import annotations

import json
import socket
import ssl
import traceback
from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from keen_tui.domain.errors import (
    AuthFailed,
    ConnectionFailed,
    ProviderError,
    ReplyUnreadable,
    RequestRefused,
    StreamCut,
    StreamStalled,
)
from keen_tui.providers.wire.reported import status_error
from keen_tui.settings.config import is_loopback
from keen_tui.text.redaction import MASK, masked

if TYPE_CHECKING:
    import httpx2

MESSAGE_LIMIT = 400
"""Characters of a message that are shown."""

_PLAIN_ANSWERS = {
    "HTTP_REQUEST",
    "PACKET_LENGTH_TOO_LONG",
    "RECORD_LAYER_FAILURE",
    "UNKNOWN_PROTOCOL",
    "WRONG_VERSION_NUMBER",
}
"""OpenSSL's names for bytes that aren't TLS."""


class ErrorTranslator(Struct, frozen=True, kw_only=True):
    """Words the errors of one server, without its key.

    `server` names it, `address` is its host:port, `key_source` says where the key came from; `key` is needed
    only to remove it from texts.
    """

    server: str
    address: str
    key_source: str
    key: str
    stall_seconds: float

    def __repr__(self) -> str:
        """The value as text, without the key."""
        return f"ErrorTranslator({self.server!r} at {self.address!r})"

    def translated(self, error: Exception, *, in_body: bool) -> ProviderError:
        """The exception to raise instead. `in_body`: the reply had already begun."""
        plain = error if isinstance(error, ProviderError) else self._ours(error, in_body)
        return self._worded(plain)

    def _worded(self, error: ProviderError) -> ProviderError:
        """The same error with masked keys, cut to a readable length (in this order, or half a key could
        stay), with its advice, and for a refused key with the place where the key came from."""
        advice = self._key_advice() if isinstance(error, AuthFailed) else error.advice
        worded = copy(error)
        worded.args = (" ".join(filter(None, (_cut(self.masked(str(error))), advice))),)
        worded.advice = ""
        return worded

    def _key_advice(self) -> str:
        if self.key:
            return f"The key came from {self.key_source}."
        return f"No key was sent: set {self.key_source}." if self.key_source else "No key was sent."

    def masked(self, text: str) -> str:
        """The text without this server's key and without anything that looks like a key."""
        return masked(text.replace(self.key, MASK) if self.key else text)

    def _ours(self, error: Exception, in_body: bool) -> ProviderError:
        status = getattr(error, "status_code", None)
        response = getattr(error, "response", None)
        if isinstance(status, int) and response is not None:
            return status_error(status, response.headers, _body_of(error, response), self.server)
        if isinstance(error, TimeoutError):
            return self._stalled()
        import httpx2  # noqa: PLC0415  (loaded with the SDK, never before it)

        for cause in _chain(error):
            if isinstance(cause, httpx2.TimeoutException):
                return self._timed_out(cause)
            if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL | httpx2.LocalProtocolError):
                return RequestRefused(f"The base URL of {self.server} can't be used: {_first_line(cause)}.")
            if isinstance(cause, httpx2.DecodingError):
                return ReplyUnreadable(f"{self.server} sent a reply that can't be decompressed.")
            if isinstance(cause, httpx2.TransportError):
                return self._lost(cause, in_body)
        return ProviderError(f"The request to {self.server} failed: {_first_line(error)}.")

    def _timed_out(self, error: Exception) -> ProviderError:
        import httpx2  # noqa: PLC0415

        if not isinstance(error, httpx2.ConnectTimeout):
            return self._stalled()
        if _is_in_handshake(error):
            return self._without_tls("didn't answer in TLS", retryable=not self._is_local)
        return self.unreachable("no answer to the connection")

    def _stalled(self) -> ProviderError:
        return StreamStalled(f"{self.server} sent nothing for {self.stall_seconds:g} s.")

    def _lost(self, error: Exception, in_body: bool) -> ProviderError:
        import httpx2  # noqa: PLC0415

        if in_body:
            return StreamCut(f"The connection to {self.address} broke in the middle of the reply.")
        if isinstance(error, httpx2.RemoteProtocolError):
            return self._without_http(str(error))
        if isinstance(error, httpx2.ReadError | httpx2.WriteError):
            return ConnectionFailed(f"{self.address} reset the connection before it answered.")
        if failure := next((cause for cause in _chain(error) if isinstance(cause, ssl.SSLError)), None):
            return self._tls_failed(failure)
        return self.unreachable(_why_unreachable(error))

    def _without_http(self, problem: str) -> ConnectionFailed:
        """The error for a server that was reached but doesn't speak HTTP."""
        if "disconnected" in problem:
            return ConnectionFailed(f"{self.address} closed the connection without an HTTP answer.")
        return ConnectionFailed(
            f"{self.address} answered, but not in HTTP.",
            retryable=False,
            advice="Check the port and the base URL, for example whether it has to begin with https://.",
        )

    def _tls_failed(self, failure: ssl.SSLError) -> ConnectionFailed:
        """The error for a server that was reached, without a TLS connection."""
        if isinstance(failure, ssl.SSLCertVerificationError):
            why = failure.verify_message or "unknown reason"
            return ConnectionFailed(
                f"The TLS certificate of {self.address} isn't trusted: {why}.",
                retryable=False,
                advice="SSL_CERT_FILE can name a certificate of your own.",
            )
        if failure.reason in _PLAIN_ANSWERS:
            return self._without_tls("doesn't speak TLS", retryable=False)
        if isinstance(failure, ssl.SSLEOFError) and self._is_local:
            return self._without_tls("closed the connection during the TLS handshake", retryable=False)
        why = failure.reason or _first_line(failure)
        return ConnectionFailed(f"TLS with {self.address} failed ({why}).")

    def _without_tls(self, what: str, *, retryable: bool) -> ConnectionFailed:
        advice = "If it speaks plain HTTP, begin the base URL with http://."
        return ConnectionFailed(f"{self.address} {what}.", retryable=retryable, advice=advice)

    @property
    def _is_local(self) -> bool:
        return is_loopback(f"http://{self.address}")

    def unreachable(self, why: str) -> ProviderError:
        """The error for a failed connection, with what to do about it."""
        advice = "Is the server running?" if self._is_local else "Check the network and the base URL."
        return self._worded(ConnectionFailed(f"Can't reach {self.address}: {why}.", advice=advice))


def host_and_port(base_url: str) -> tuple[str, str]:
    """The server's name on the screen, and its host:port. "https://a.example/v1" -> "a.example",
    "a.example:443". Never raises: an invalid base URL is returned unchanged."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return base_url, base_url
    default = 80 if parts.scheme == "http" else 443
    host = f"[{host}]" if ":" in host else host
    return (f"{host}:{port}" if port else host), f"{host}:{port or default}"


def _body_of(error: Exception, response: httpx2.Response) -> object:
    """The whole JSON of an answer that isn't a success, else its text: the SDKs keep only a part."""
    import httpx2  # noqa: PLC0415

    try:
        return json.loads(response.content)
    except (ValueError, RecursionError, httpx2.StreamError):
        return getattr(error, "body", None)


def _why_unreachable(error: Exception) -> str:
    for cause in _chain(error):
        match cause:
            case socket.gaierror():
                return "the name is not known"
            case ConnectionRefusedError():
                return "connection refused"
            case OSError(strerror=str(words)):
                return words.lower()
    return _first_line(error) if str(error) else "the connection was reset"


def _is_in_handshake(error: BaseException) -> bool:
    """Whether the connection existed and TLS failed: the HTTP client raises the same time-out for both."""
    frames = (frame for cause in _chain(error) for frame, _ in traceback.walk_tb(cause.__traceback__))
    return any(frame.f_code.co_name == "start_tls" for frame in frames)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, outermost first, including those in exception groups."""
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
