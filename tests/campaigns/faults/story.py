"""The standard session of the fault campaign, as its scripted model plays it, with one fault in it.

Two turns: text, two calls at once, an edit beside a command that fails, text; and a second answer. The
commands count that they ran, and note what environment they saw. The texts hold an escape sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keen_tui.demo.script import (
    Answer,
    Break,
    Call,
    Fail,
    HttpAnswer,
    NoAnswer,
    RawStream,
    RecordedRequest,
    Reply,
    Say,
    Think,
    WireEvent,
)
from keen_tui.demo.wires import WIRES, seen
from keen_tui.domain.choices import Api

KEY: Final = "sk-made-up-0f9e8d7c6b5a49382716"
"""The key in the environment, which no file, screen or command may hold."""
CLIPBOARD: Final = "\x1b]52;c;c3RvbGVu\x07"
"""Would write to the clipboard of a terminal."""
FIRST, SECOND = "see @shot.png and change it", "and now"
"""What the user says. The image is in the workspace."""
COUNTED: Final = ("one", "two")
"""What the commands leave in the file `counter`, each once."""

TEXTS: Final = ("I look at it first.", "Now I change it.", "All is well, the change is made.")
"""What the model says in the steps of the first turn, and (`ANSWER`) in the second."""
ANSWER: Final = "The next answer, in several words."

WRITTEN_BY_COMMANDS: Final = ("counter", "running", "seen_by_a_command")
_LOOK = Call("bash", {"command": "echo one >> counter; env > seen_by_a_command"})
_EDIT = Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "two"})
_FAIL = Call("bash", {"command": f"echo two >> counter; printf '{CLIPBOARD}'; exit 3"})
STEPS: Final = (
    Reply([Think("Hm."), Say(TEXTS[0]), Call("read_file", {"path": "a.py"}), _LOOK], delta_size=40),
    Reply([Say(TEXTS[1] + CLIPBOARD), _EDIT, _FAIL], delta_size=40),
    Reply([Say(TEXTS[2])], delta_size=16),
    Reply([Say(ANSWER)], delta_size=16),
)
"""The replies in the order in which they are asked for when nothing goes wrong."""

LONG_COMMAND: Final = "echo one >> counter; echo yes > running; sleep 60"
_PATHS: dict[Api, str] = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}

BEFORE_A_BYTE: Final[dict[str, Answer]] = {
    "429": HttpAnswer(429, {"error": {"message": "slow down"}}, {"retry-after": "1"}),
    "500": HttpAnswer(500, {"error": {"message": f"crashed over {KEY}"}}),
    "529": HttpAnswer(529, {"error": {"type": "overloaded_error", "message": "overloaded"}}),
    "401": HttpAnswer(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
    "400": HttpAnswer(400, {"error": {"message": f"no such field{CLIPBOARD}"}}),
    "page": HttpAnswer(200, f"<html><title>{CLIPBOARD}</title>Welcome</html>"),
    "json": HttpAnswer(200, {"error": {"message": "not a stream"}}),
    "redirect": HttpAnswer(302, "", {"location": "http://127.0.0.1:9/v1/elsewhere"}),
    "close": NoAnswer("close"),
    "reset": NoAnswer("reset"),
    "silence": NoAnswer("stall"),
}
"""Faults in place of a stream, by name."""

IN_THE_STREAM: Final = ("reset", "close", "end", "stall", "half", "error")
"""Faults at a place of a stream: the connection is reset, or closed, the body ends too early, nothing more
comes, an event is sent half, an error object comes."""


def events_of(api: Api, step: int) -> Sequence[WireEvent]:
    """The events of a step's reply, as they are sent."""
    body = {"model": "scripted", "stream_options": {"include_usage": True}}
    return WIRES[_PATHS[api]].encode(STEPS[step], body, step + 1)


def broken_stream(api: Api, step: int, place: int, fault: str) -> Answer:
    """A step's reply with a fault behind its first `place` events."""
    data = [event.data for event in events_of(api, step)]
    body, offset = b"".join(data), sum(map(len, data[:place]))
    match fault:
        case "reset" | "close" | "end" | "stall":
            return RawStream(body, broken=Break(fault, after_bytes=offset))
        case "half":
            return RawStream(body, broken=Break("close", after_bytes=offset + len(data[place]) // 2))
    failing = WIRES[_PATHS[api]].encode(Reply([Fail(f"crashed over {KEY}")]), {"model": "scripted"}, 1)
    return RawStream(body[:offset] + failing[-1].data)


class Story:
    """Answers by what a request holds. At its `at`-th request (from 1) it answers `fault`, once. Its first
    calls are `also` and those of the standard session."""

    def __init__(
        self, at: int = 0, fault: Answer | None = None, *, long: bool = False, also: Call | None = None
    ) -> None:
        self.asked = 0
        self._also = also
        self._at = at
        self._fault = fault
        self._long = long

    def __call__(self, request: RecordedRequest) -> Answer:
        self.asked += 1
        if self._fault is not None and self.asked == self._at:
            return self._fault
        messages = seen(request)
        users = [place for place, message in enumerate(messages) if message.role == "user"]
        if SECOND in messages[users[-1]].text.split("\n"):  # a hook may add to it
            return STEPS[-1]
        done = sum(message.role == "assistant" for message in messages[users[-1] :])
        if self._long and not done:
            return Reply([Say(TEXTS[0]), Call("bash", {"command": LONG_COMMAND})])
        if self._also and not done:
            return Reply([Say(TEXTS[0]), self._also, *STEPS[0].parts[2:]], delta_size=40)
        return STEPS[min(done, len(STEPS) - 2)]
