"""Fetches a page: within limits, from checked addresses, redirects only within the host."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from keen_tui import __version__
from keen_tui.domain.errors import ToolFailure
from keen_tui.text.sanitize import clean
from keen_tui.text.units import size
from keen_tui.tools.network.addresses import INTERNET, Internet
from keen_tui.tools.network.reaching import NotReached
from keen_tui.tools.web.content_type import ContentType
from keen_tui.tools.web.limits import FetchLimits
from keen_tui.tools.web.unpacking import ENCODINGS, Unpacked
from keen_tui.tools.web.web_address import WebAddress

if TYPE_CHECKING:
    from httpcore2 import AsyncConnectionPool, Response

_HEADERS: Final = (
    ("User-Agent", f"keen-tui/{__version__}"),
    ("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1"),
    ("Accept-Encoding", ENCODINGS),
)
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))

Progress = Callable[[int], None]
"""Called with the bytes that have arrived so far."""


class FetchedPage(Struct, frozen=True, kw_only=True):
    """The answer of a server. `address` is the one that answered at last; `is_cut`: there was more than the
    limit."""

    address: WebAddress
    status: int
    type: ContentType
    content: bytes
    is_cut: bool = False


class Redirected(Struct, frozen=True, kw_only=True):
    """A redirect to another host, which nobody has allowed yet."""

    address: WebAddress
    to: WebAddress


class Fetcher:
    """Fetches pages. Nothing lasts from one to the next: no connection, no cookie.

    Args:
        internet: how names are resolved, and which addresses are open.
        limits: what one fetch may take.
        certificates: makes the context that checks servers; None: the usual one.
    """

    def __init__(
        self,
        internet: Internet = INTERNET,
        limits: FetchLimits = FetchLimits(),  # noqa: B008 - frozen
        certificates: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self.limits = limits
        self._internet = internet
        self._certificates = certificates

    async def fetch(
        self, address: WebAddress, on_progress: Progress = lambda _: None
    ) -> FetchedPage | Redirected:
        """Fetch a page, with all its redirects within the host.

        Raises:
            ToolFailure: there is no page, for whatever reason; the text says why in one sentence.
        """
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self._fetched(address, on_progress)
        except TimeoutError as error:
            seconds = f"{self.limits.seconds:g} seconds"
            raise ToolFailure(
                f"{address} took too long: the whole page has to arrive within {seconds}."
            ) from error

    async def _fetched(self, address: WebAddress, on_progress: Progress) -> FetchedPage | Redirected:
        pool = await asyncio.to_thread(self._pool)
        async with pool:
            for _ in range(self.limits.redirects + 1):
                found = await self._answer(pool, address, on_progress)
                if not isinstance(found, WebAddress):
                    return found
                if found.host.name != address.host.name or not _is_usual_change(address, found):
                    return Redirected(address=address, to=found)
                address = found
        raise ToolFailure(
            f"{address} redirects again: more than {self.limits.redirects} redirects aren't followed."
        )

    def _pool(self) -> AsyncConnectionPool:
        """Returns a new pool of connections. Blocks: imports, and reads certificates."""
        import httpcore2  # noqa: PLC0415 - comes with the SDKs, never before a page is fetched
        import httpx2  # noqa: PLC0415

        from keen_tui.tools.web.network import CheckedNetwork  # noqa: PLC0415 - with httpcore2

        certificates = (self._certificates or httpx2.create_ssl_context)()
        return httpcore2.AsyncConnectionPool(
            ssl_context=certificates, network_backend=CheckedNetwork(self._internet), max_connections=1
        )

    async def _answer(
        self, pool: AsyncConnectionPool, address: WebAddress, on_progress: Progress
    ) -> FetchedPage | WebAddress:
        """The page at this address, or where it redirects to."""
        import httpcore2  # noqa: PLC0415 - there is a pool

        request = httpcore2.URL(
            scheme=address.scheme.encode(),
            host=address.host.name.encode(),
            port=address.host.port,
            target=address.target.encode(),
        )
        host = address.host.name if address.host.port in (80, 443) else str(address.host)
        try:
            async with pool.stream("GET", request, headers=[("Host", host), *_HEADERS]) as answer:
                return await self._read(answer, address, on_progress)
        except NotReached as error:
            raise ToolFailure(f"{address.host} can't be reached: {error}.") from error
        except ssl.SSLCertVerificationError as error:
            why = clean(error.verify_message)
            raise ToolFailure(f"The certificate of {address.host} can't be trusted: {why}.") from error
        except (OSError, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise ToolFailure(f"{address.host} closed the connection, or its answer isn't HTTP.") from error

    async def _read(
        self, answer: Response, address: WebAddress, on_progress: Progress
    ) -> FetchedPage | WebAddress:
        if answer.status in _REDIRECTS and (location := _header(answer.headers, b"location")):
            return address.redirected(location)
        if not 200 <= answer.status < 300:
            raise ToolFailure(f"{address} answered {_in_words(answer.status)}.")
        type = ContentType.of(_header(answer.headers, b"content-type"))
        if problem := type.problem:
            length = _header(answer.headers, b"content-length")
            big = (
                f" of {size(int(length))}"
                if length.isascii() and length.isdigit() and len(length) < 16
                else ""
            )
            raise ToolFailure(f"{address} is {problem}{big}: web_fetch reads text only.")
        unpacked = Unpacked(_header(answer.headers, b"content-encoding"), self.limits.bytes)
        async for chunk in answer.aiter_stream():
            unpacked.feed(chunk)
            on_progress(unpacked.received)
            if unpacked.is_full or unpacked.received > self.limits.bytes:
                break
        return FetchedPage(
            address=address,
            status=answer.status,
            type=type,
            content=unpacked.content,
            is_cut=unpacked.is_full or unpacked.received > self.limits.bytes,
        )


def _is_usual_change(before: WebAddress, after: WebAddress) -> bool:
    """Whether a redirect within a host stays at its port, or at those that every server has."""
    usual = (80, 443)
    return after.host.port == before.host.port or (before.host.port in usual and after.host.port in usual)


def _header(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str:
    """The first header of that name; "" for none."""
    found = (value for each, value in headers if each.lower() == name)
    return next(found, b"").decode("latin-1").strip()


def _in_words(status: int) -> str:
    """`404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
