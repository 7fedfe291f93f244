"""The record of a session: what its turns did, call by call, as the tool `recall` lists it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.messages import CallOutcome, ToolResult

RECALL: Final = "recall"
"""The name of the tool that reads the record."""


class RecordedCall(Struct, frozen=True, kw_only=True):
    """A finished tool call, without its result. `number` counts the calls of the turn in all its attempts,
    from 1; `size` is the result in bytes; `at` is when it finished, in seconds since the epoch, 0 if that
    isn't known; `changed` are the files that it changed (turn.md rule 13)."""

    turn: int
    number: int
    name: str
    target: str
    size: int
    outcome: CallOutcome
    exit_code: int | None = None
    at: float = 0.0
    changed: tuple[str, ...] = ()


class RecordedTurn(Struct, kw_only=True):
    """A turn with its finished calls, in order. `title` is the first line of its message, `reply` the text
    that ended it, `state` how it stands, in a word or two; `restored` are files that an undo right after this
    turn restored."""

    turn: int
    title: str
    message: str = ""
    reply: str = ""
    state: str = "running"
    calls: list[RecordedCall] = field(default_factory=list)
    restored: tuple[str, ...] = ()


def recalled_bytes(name: str, result: ToolResult) -> int:
    """The bytes of earlier turns that a call gave the model; 0 for every tool but `recall`."""
    return len(result.text.encode("utf-8", "replace")) if name == RECALL and not result.is_error else 0


def kept_out_bytes(result: ToolResult) -> int:
    """The bytes that stayed in the context of the sub-agent of a call; 0 for every other call."""
    if not isinstance(result.display, AgentDisplay) or result.unfinished:
        return 0
    return result.display.kept_out
