"""What a scripted model answers, in words that belong to no API.

A script is a sequence of answers, or a function from the recorded request to an answer:

    Reply([Think("Let me look."), Say("I read it."), Call("read_file", {"path": "a.py"})])
    Reply([Say("Half a sentence that is")], broken=Break("reset"))
    HttpAnswer(429, {"error": {"message": "slow down"}}, headers={"retry-after": "2"})
    RawStream(recorded_bytes, piece=7)
    NoAnswer("close")

How a Reply looks on the wire is the business of one file for each API (`chat_wire` and its like).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from keen_tui.domain.messages import StopReason, TokenUsage


class Say(Struct, frozen=True):
    """Visible text."""

    text: str


class Think(Struct, frozen=True):
    """Reasoning text."""

    text: str


class Refuse(Struct, frozen=True):
    """Text of a refusal."""

    text: str


class Call(Struct, frozen=True):
    """A tool call. Arguments given as a string are sent as they are, so they may be broken JSON.

    `id`: None lets the server make a unique one, "" sends none at all.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


class Fail(Struct, frozen=True):
    """An error object inside the stream; nothing follows it."""

    message: str
    type: str = "server_error"
    code: str | int | None = None


ReplyPart = Say | Think | Refuse | Call | Fail


class Break(Struct, frozen=True):
    """Where and how a stream breaks off.

    `how`: a real TCP reset, a plain close inside the chunked body, a clean end of the body that simply
    comes too early, or a stall: no more bytes until the client goes away.

    Where: after `after_bytes` bytes of the body, after `after_deltas` deltas, in the middle of the first
    call's arguments (`in_arguments`), or, when none is given, after everything but the terminal events.
    """

    how: Literal["reset", "close", "end", "stall"]
    after_bytes: int | None = None
    after_deltas: int | None = None
    in_arguments: bool = False


class Reply(Struct, frozen=True):
    """A streamed reply: its parts in order, as small deltas of `delta_size` characters.

    `pace` is the seconds between deltas, `wait` the seconds before the first byte. `finish` is derived
    from the parts unless given. `usage` None sends no token counts; `send_finish` and `send_done` leave
    out the event that ends the reply and the one that closes the stream.
    """

    parts: Sequence[ReplyPart] = ()
    finish: StopReason | None = None
    usage: TokenUsage | None = field(default_factory=lambda: TokenUsage(input_tokens=100, output_tokens=20))
    delta_size: int = 12
    pace: float = 0.0
    wait: float = 0.0
    send_finish: bool = True
    send_done: bool = True
    broken: Break | None = None

    @property
    def stop_reason(self) -> StopReason:
        """`finish`, or what follows from the parts."""
        if self.finish is not None:
            return self.finish
        return "tool_calls" if any(isinstance(part, Call) for part in self.parts) else "stop"


class HttpAnswer(Struct, frozen=True):
    """A plain HTTP answer, not a stream: errors, redirects, pages. A mapping is sent as JSON."""

    status: int
    body: Mapping[str, Any] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0


class RawStream(Struct, frozen=True):
    """The bytes of a stream as they are, for example recorded ones, in pieces of `piece` bytes."""

    body: bytes
    piece: int = 65_536
    broken: Break | None = None
    pace: float = 0.0


class NoAnswer(Struct, frozen=True):
    """Not even headers: the connection is closed or reset after the request, or nothing comes at all."""

    how: Literal["close", "reset", "stall"] = "close"


Answer = Reply | HttpAnswer | RawStream | NoAnswer


class RecordedRequest(Struct, frozen=True):
    """A request that took an answer. `headers` have lower case names, `body` is the parsed JSON object."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    raw: bytes


class SeenCall(Struct, frozen=True):
    """A tool call as a request holds it. `arguments` is the parsed object."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Seen(Struct, frozen=True):
    """One message of a request in words that belong to no API: what a model sees.

    Everything that the assistant said and called between two messages of others is one `assistant`.
    `calls` are those of an assistant; `call_id` is the call that a `tool` message answers.
    `thought` is the reasoning that was sent back, in whatever form the API has for it. `images` are those of
    a user's message, in base64.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    calls: tuple[SeenCall, ...] = ()
    call_id: str = ""
    thought: tuple[Any, ...] = ()
    images: tuple[str, ...] = ()


class WireEvent(Struct, frozen=True):
    """A piece of an encoded reply, sent in one go.

    `kind`: a delta of text or reasoning, a delta of tool arguments, a terminal event, or anything else.
    """

    data: bytes
    kind: Literal["delta", "arguments", "terminal", "other"] = "other"


def break_offset(events: Sequence[WireEvent], broken: Break) -> int:
    """The number of bytes of the stream that are sent before it breaks off."""
    if broken.after_bytes is not None:
        return broken.after_bytes
    if broken.in_arguments:
        return _middle_of_arguments(events)
    deltas_left = broken.after_deltas
    offset = 0
    for event in events:
        if event.kind == "terminal" or (deltas_left == 0 and event.kind != "other"):
            break
        if deltas_left is not None and event.kind != "other":
            deltas_left -= 1
        offset += len(event.data)
    return offset


def _middle_of_arguments(events: Sequence[WireEvent]) -> int:
    places = [index for index, event in enumerate(events) if event.kind == "arguments"]
    if not places:
        raise ValueError("in_arguments: the reply has no tool call with arguments")
    middle = places[(len(places) - 1) // 2]
    return sum(len(event.data) for event in events[:middle]) + len(events[middle].data) // 2
