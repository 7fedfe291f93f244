"""The part that the providers of all APIs share: one call as a template, with its errors and its end.

Each API adds how it sends a request, assembles a reply and formats tool results.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, assert_never

from msgspec.structs import replace

from keen_tui.domain.choices import Api
from keen_tui.domain.errors import AuthFailed, ProviderError, RequestRefused, ServerBusy
from keen_tui.domain.messages import Image, NativeMessage, ToolCall, ToolResult, ToolStep
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState
from keen_tui.memory.projection import AssistantText, NativeTrace, Part, PastStep, UserText
from keen_tui.providers.wire.arguments import ReplayedIds
from keen_tui.providers.wire.assembly import Assembly
from keen_tui.providers.wire.encoding import Encoder, compact_json
from keen_tui.providers.wire.event_reader import LONG, EventReader
from keen_tui.providers.wire.images import (
    IMAGES,
    holds_images,
    refuses_images,
    text_without_images,
    without_images,
    without_result_images,
)
from keen_tui.providers.wire.lazy_packages import load_anyio
from keen_tui.providers.wire.provider import SEARCH, Connection, StepPart, StepRequest
from keen_tui.providers.wire.sdk_errors import ErrorTranslator, host_and_port
from keen_tui.providers.wire.sse import ServerSentEvent
from keen_tui.providers.wire.wire_text import mended_json
from keen_tui.settings.config import is_loopback

if TYPE_CHECKING:
    import ssl

    import httpx2

AFTER_FINISH = 5.0
"""Seconds to wait for anything after a complete reply, such as token counts."""

AFTER_CLOSE = 0.25
"""Seconds to wait for the end of the body after its last event, so that the connection can be reused."""


Result = TypeVar("Result")


class OpenStream(Protocol):
    """An answer whose body is still arriving, as both SDKs return it."""

    response: httpx2.Response

    async def close(self) -> None:
        """Release the connection."""


class HttpProvider(ABC):
    """A client of one model behind one base URL. Creating one is cheap: no SDK is imported.

    Some servers refuse options, so `options` names those that an API can do without; a refused one is left
    out from then on.
    """

    api: ClassVar[Api]
    list_name: ClassVar[str] = "messages"
    """The field of a request with the messages."""
    text_type: ClassVar[str] = "text"
    """The type of a text beside images in a message."""
    options: set[str]

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.pending: PendingState | None = None
        self.options = set() if connection.takes_images is False else {IMAGES}
        self._key = connection.api_key.strip()
        self._lender: HttpProvider | None = None
        self._loading = threading.Lock()
        self._loaded = False
        self.server, address = host_and_port(connection.base_url)
        self._errors = ErrorTranslator(
            server=self.server,
            address=address,
            key_source=connection.key_source,
            key=self._key,
            stall_seconds=connection.stall_seconds,
        )
        self._encoder = Encoder(self._messages, self._marked)
        self._replayed = ReplayedIds()

    @property
    def model(self) -> str:
        """Name of the model, as the server knows it."""
        return self.connection.model

    @property
    def effort(self) -> str:
        """The reasoning effort, "" for the model's default."""
        return self.connection.effort

    @property
    def takes_images(self) -> bool:
        """False if the model is known to take no images, or if its server refused one."""
        return IMAGES in self.options

    @property
    def lacks_search(self) -> bool:
        """Whether web search is wanted, and the API has none, or its server refused it."""
        return self.connection.searches and SEARCH not in self.options

    @property
    def identity(self) -> Identity:
        """The API, base URL and model: pending state belongs to them."""
        return Identity(api=self.api, base_url=self.connection.base_url, model=self.model)

    async def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        """One model call, as `Provider.stream_step` says."""
        assembly = self._assembly(request)
        in_body, received = False, 0
        try:
            async with AsyncExitStack() as stack:
                reader = await self._open(stack, request)
                in_body = True
                while (events := await self._read(reader, assembly)) is not None:
                    for event in events:
                        received += len(event.data)
                        for part in await _done(partial(assembly.take, event), len(event.data)):
                            yield part
            reply = await _done(assembly.finish, received)
        except Exception as error:
            raise self._errors.translated(error, in_body=in_body) from None
        yield reply

    def load(self) -> None:
        """Import the SDK and make its client. Blocking (a second or more): call it in a thread that runs no
        event loop.

        Safe to call twice, even at the same time.
        """
        with self._loading:
            if not self._loaded:
                with suppress(AuthFailed):  # the call itself reports the error
                    self._client()
                load_anyio()
                self._loaded = True

    def sibling(self, *, searches: bool) -> HttpProvider:
        """A client of the same model with the connections of this one."""
        connection = replace(self.connection, searches=searches and self.connection.searches)
        sibling = type(self)(connection)
        sibling._lender = self._lender or self
        sibling.options &= self.options
        return sibling

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """The pending state, if API, server and model are the same, else None. A server on this machine may
        have another port each time it starts."""
        mine = self.identity
        is_same = (origin.api, origin.model) == (mine.api, mine.model)
        is_here = origin.base_url == mine.base_url or all(map(is_loopback, (origin.base_url, mine.base_url)))
        return pending if is_same and is_here else None

    def native(self, part: Part) -> tuple[NativeMessage, ...]:
        """A part of the conversation as messages of this API."""
        match part:
            case UserText(text=text, images=images):
                return self._with_images(text, images) if images else self._text("user", text)
            case AssistantText(text=text):
                return self._text("assistant", text)
            case PastStep(step=step):
                return (*self._calls(step), *self.tool_results(step.calls))
            case NativeTrace(messages=messages):
                return messages if self.takes_images else self._without_images(messages)
            case _:
                assert_never(part)

    def body(self, request: StepRequest) -> Mapping[str, Any]:
        """The whole request as it is sent, a JSON object."""
        messages = self._marked([*self._opening(request), *self._messages(request.parts)])
        return {**self._frame(request), self.list_name: mended_json(messages)}

    def encoded(self, request: StepRequest) -> bytes:
        """`body` as the JSON that is sent. The part that it shares with the request before isn't encoded
        again."""
        return self._encoder.encoded(
            self._frame(request),
            self.list_name,
            request.parts,
            opening=self._opening(request),
            under=frozenset(self.options),
        )

    def in_cache_order(self, request: StepRequest) -> bytes:
        """`body` as JSON, in the order in which it is sent: the caches of OpenAI and of those who speak its
        APIs compare the prompt from its beginning, with the tools before the messages."""
        return compact_json(self.body(request))

    @property
    def writes_cache(self) -> bool:
        """The cache fills by itself, at no price of its own."""
        return False

    @abstractmethod
    def _client(self) -> object:
        """The SDK's client. The first call imports the SDK and creates it. Raises AuthFailed for an
        impossible key."""

    @abstractmethod
    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """The results of a step's calls, in call order, as the messages that follow the reply."""

    @abstractmethod
    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """The messages with the text of every tool result replaced by `rewrite(text)`, in order."""

    @abstractmethod
    async def close(self) -> None:
        """Close connections. A later call opens new ones."""

    @abstractmethod
    def _text(self, role: str, text: str) -> tuple[NativeMessage, ...]:
        """A text of that role; no message for an empty text if the API refuses those."""

    @abstractmethod
    def _image(self, image: Image) -> NativeMessage:
        """An image as a part of a message's content."""

    @abstractmethod
    def _calls(self, step: ToolStep) -> tuple[NativeMessage, ...]:
        """The assistant's side of a step of a finished turn: its text and its calls."""

    @abstractmethod
    def ids_in(self, message: NativeMessage) -> Iterator[str]:
        """The ids of the tool calls in a message."""

    @abstractmethod
    def _frame(self, request: StepRequest) -> dict[str, Any]:
        """The whole request except the messages."""

    def _opening(self, request: StepRequest) -> Sequence[NativeMessage]:
        """The messages that come before all others in the list."""
        return ()

    def _messages(self, parts: Sequence[Part]) -> Sequence[NativeMessage]:
        """The parts as messages for the `Encoder`. Consecutive texts of the user, such as the end of a trace
        and the next message, are merged."""
        messages: list[NativeMessage] = []
        for message in chain.from_iterable(map(self.native, parts)):
            if messages and _is_of_user(messages[-1]) and _is_of_user(message):
                messages[-1] = {**message, "content": self._joined(messages[-1], message)}
            else:
                messages.append(message)
        return messages

    def _joined(self, first: NativeMessage, second: NativeMessage) -> str | list[NativeMessage]:
        """The content of two messages of the user as one."""
        contents = first["content"], second["content"]
        if all(isinstance(content, str) for content in contents):
            return "\n\n".join(contents)
        as_blocks = (
            [_block(self.text_type, content)] if isinstance(content, str) else content for content in contents
        )
        return [*chain.from_iterable(as_blocks)]

    def _with_images(self, text: str, images: Sequence[Image]) -> tuple[NativeMessage, ...]:
        """A message of the user, with its images before the text that refers to them."""
        if not self.takes_images:
            return self._text("user", without_images(text, images))
        content = [*map(self._image, images), _block(self.text_type, text)]
        return tuple({**message, "content": content} for message in self._text("user", text))

    def _without_images(self, messages: Sequence[NativeMessage]) -> tuple[NativeMessage, ...]:
        """A trace for a model that takes no images. Images that the API received before stay in it."""
        messages = tuple(map(without_result_images, messages))
        texts = map(text_without_images, messages)
        plain = (
            (message,) if text is None else self._text("user", text)
            for message, text in zip(messages, texts, strict=True)
        )
        return tuple(chain.from_iterable(plain))

    def _marked(self, messages: Sequence[NativeMessage]) -> Sequence[NativeMessage]:
        """The messages with marks, for the `Encoder`; only those at the end may change."""
        return messages

    def taken_ids(self, request: StepRequest) -> set[str]:
        """The ids of all tool calls in the request: a reply must not use them again."""
        traces = [part.messages for part in request.parts if isinstance(part, NativeTrace)]
        traced = map(self.ids_in, chain.from_iterable(traces))
        return {*self._replayed.ids(request.parts), *chain.from_iterable(traced)}

    @abstractmethod
    def _assembly(self, request: StepRequest) -> Assembly:
        """The assembly for the reply to this request."""

    @abstractmethod
    async def _send(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        """Send the request with the remaining options and return the reader of its answer; `stack` closes the
        answer at the end."""

    def _refused(self, refusal: str) -> set[str]:
        """The options that the text of a refusal is about."""
        return {name for name in self.options - {IMAGES} if name in refusal}

    def _refused_by(self, refusal: ProviderError, request: StepRequest) -> set[str]:
        """The options to leave out of a request. "No images" counts as a refusal whatever its status, since
        some servers call it a failure of their own. Names say nothing: there are models called "vision"."""
        words = str(refusal).replace(self.model, "").replace(self.server, "")
        may_be = isinstance(refusal, RequestRefused | ServerBusy) and holds_images(request)
        if may_be and refuses_images(words):
            return {IMAGES}
        return self._refused(str(refusal)) if isinstance(refusal, RequestRefused) else set()

    async def _open(self, stack: AsyncExitStack, request: StepRequest) -> EventReader:
        """Send the request, and send it again without an option that the server refuses."""
        if not self._loaded:
            await asyncio.to_thread(self.load)
        while True:
            sent = set(self.options)
            try:
                return await self._send(stack, request)
            except Exception as error:
                refusal = self._errors.translated(error, in_body=False)
                refused = self.options & self._refused_by(refusal, request)
                if not refused and self.options == sent:  # another request may find out meanwhile
                    raise
                self.options -= refused

    async def _read(self, reader: EventReader, assembly: Assembly) -> Sequence[ServerSentEvent] | None:
        """The next events. Once the reply is complete, no failure matters any more."""
        patience = AFTER_CLOSE if assembly.closed else AFTER_FINISH
        try:
            return await reader.read(patience if assembly.ended else self.connection.stall_seconds)
        except Exception:
            if not assembly.complete:
                raise
            return None

    def _check_key(self) -> None:
        """Raise AuthFailed if the key can't be sent in a header."""
        if not (self._key.isascii() and self._key.isprintable()):
            raise AuthFailed("The key can't be sent: it contains characters that a key can't have.")

    @property
    def _timeout(self) -> httpx2.Timeout:
        import httpx2  # noqa: PLC0415 - comes with the SDK, never before it

        return httpx2.Timeout(self.connection.stall_seconds, connect=self.connection.connect_seconds)

    def _certificates(self) -> Future[ssl.SSLContext]:
        """The certificates to check the server with, read in a thread while the SDK is imported."""
        import httpcore2  # noqa: F401, PLC0415 - two threads must not import it at once
        import httpx2  # noqa: PLC0415

        reading = ThreadPoolExecutor(1)
        certificates = reading.submit(httpx2.create_ssl_context, trust_env=self._trusts_environment)
        reading.shutdown(wait=False)
        return certificates

    @property
    def _trusts_environment(self) -> bool:
        """Whether to use the proxies of the environment: never for loopback."""
        return not is_loopback(self.connection.base_url)


async def reader_of(stack: AsyncExitStack, sending: Awaitable[OpenStream], server: str) -> EventReader:
    """The reader of the answer that is on its way from that server; `stack` closes the answer at the end."""
    stream = await sending
    stack.push_async_callback(stream.close)
    answer = stream.response
    return EventReader(answer.aiter_bytes(), answer.headers.get("content-type", ""), server)


async def _done(work: Callable[[], Result], size: int) -> Result:
    """The result of the work on `size` characters. A thread does it if there are many."""
    return work() if size < LONG else await asyncio.to_thread(work)


def _is_of_user(message: NativeMessage) -> bool:
    return message.get("role") == "user" and "content" in message


def _block(text_type: str, text: str) -> NativeMessage:
    return {"type": text_type, "text": text}
