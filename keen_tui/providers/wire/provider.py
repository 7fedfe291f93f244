"""The contract between the turn loop and a model API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from keen_tui.domain.messages import NativeMessage, StepReply, ToolCall, ToolResult, ToolSpec, WebSource
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState
from keen_tui.memory.projection import Part

SEARCH = "search"
"""The option of a provider that offers its web search to the model."""


class Connection(Struct, frozen=True, kw_only=True):
    """Which model to use, where, and with which key.

    `api_key` "" sends no key, as for local servers; `key_source` says where the key came from, for messages
    ("OPENAI_API_KEY"). `effort` is the reasoning effort, "" for the model's default. `output_limit` is the
    most tokens of one reply; `reasons` and `takes_images` say what the model can do; None means unknown. A
    reply that says nothing for `stall_seconds` counts as stalled; `connect_seconds` limits how long
    connecting may take. With `searches` the model may use the provider's own web search, if the API has one.
    """

    model: str
    base_url: str
    api_key: str = ""
    key_source: str = ""
    effort: str = ""
    output_limit: int | None = None
    reasons: bool | None = None
    takes_images: bool | None = None
    stall_seconds: float = 180.0
    connect_seconds: float = 10.0
    searches: bool = False

    def __repr__(self) -> str:
        """The connection as text, without the key."""
        return f"Connection({self.model!r} at {self.base_url!r}, key from {self.key_source!r})"


class StepRequest(Struct, frozen=True, kw_only=True):
    """One model call: the conversation with the native traces of unfinished turns in their places, as
    `memory.projection.project` returns it."""

    system: str
    parts: Sequence[Part]
    tools: Sequence[ToolSpec]


class StepText(Struct, frozen=True):
    """A piece of visible text, as it streams."""

    text: str


class StepReasoning(Struct, frozen=True):
    """A piece of reasoning, as it streams."""

    text: str


class StepSearch(Struct, frozen=True):
    """A web search that the provider made, once it is over. `problem` says why it found nothing, "" if
    nothing went wrong."""

    query: str
    sources: tuple[WebSource, ...] = ()
    problem: str = ""


StreamedPart = StepText | StepReasoning | StepSearch
"""The parts that a step yields before its reply."""

StepPart = StreamedPart | StepReply


class Provider(Protocol):
    """A client of one model server, for one API. It holds the pending state in its own messages.

    Creating one MUST be cheap: the SDK is imported by `load`, or by the first call that needs it.
    """

    @property
    def model(self) -> str:
        """Name of the model, as the server knows it."""
        ...

    @property
    def server(self) -> str:
        """Host and port, or a short name, for the header of the screen."""
        ...

    @property
    def effort(self) -> str:
        """The reasoning effort; "" for the model's default."""
        ...

    @property
    def identity(self) -> Identity:
        """The API, base URL and model: pending state belongs to them."""
        ...

    @property
    def takes_images(self) -> bool:
        """False if the model is known to take no images, or if its server refused one."""
        ...

    @property
    def lacks_search(self) -> bool:
        """Whether web search is wanted, and the API has none, or its server refused it."""
        ...

    pending: PendingState | None
    """The pending state of incomplete turns. The session sets it when it settles a turn; providers only store
    it."""

    def load(self) -> None:
        """Import the SDK. Blocking (a second or more): call it in a thread. Safe to call twice."""
        ...

    def native(self, part: Part) -> tuple[NativeMessage, ...]:
        """A part of the conversation as messages of this API."""
        ...

    def body(self, request: StepRequest) -> Mapping[str, Any]:
        """The whole request as a JSON object: `stream_step` sends exactly this."""
        ...

    def encoded(self, request: StepRequest) -> bytes:
        """`body` as the JSON that is sent; b"" if nothing is sent. Blocks: call it in a thread."""
        ...

    def in_cache_order(self, request: StepRequest) -> bytes:
        """The request as the API's prompt cache reads it, from the first byte on: what the beginnings of two
        requests have in common here, the cache can reuse. b"" if nothing is sent. Blocks."""
        ...

    @property
    def writes_cache(self) -> bool:
        """Whether requests mark what the cache should hold, so that new input is charged as written to it."""
        ...

    def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        """Make one model call, once: no retry inside.

        Yields text and reasoning as they stream, and a `StepReply` last, exactly once, and only when
        the reply is complete (turn.md, "When a reply is complete"). In the reply every tool call has an
        id that is unique in the request that will carry it.

        Raises:
            ProviderError: the only exception besides CancelledError.
        """
        ...

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """The results of a step's calls, in call order, as the messages that follow the reply."""
        ...

    def rewrite_results(
        self, messages: Iterable[NativeMessage], rewrite: Callable[[str], str]
    ) -> tuple[NativeMessage, ...]:
        """The messages with the text of every tool result replaced by `rewrite(text)`, in order."""
        ...

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """Another provider's pending state in a form that this one can send, or None if that is
        impossible."""
        ...

    def sibling(self, *, searches: bool) -> Provider:
        """A client of the same model for a sub-agent: it has pending state of its own, and uses this client's
        connections, which it never closes. `searches`: it may use the provider's web search, if this client
        does. Cheap."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
