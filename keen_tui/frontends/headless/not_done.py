"""Work that wasn't done without a person: refused calls, and actions that the sandbox stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct, to_builtins

from keen_tui.domain.errors import NOBODY, NOBODY_IN_BACKGROUND
from keen_tui.domain.events import (
    AgentEvent,
    ApprovalAnswered,
    ApprovalRequested,
    BackgroundChanged,
    Event,
    HostContacted,
    ToolFinished,
    ToolStarted,
)

_MOST_SHOWN: Final = 10


class RefusedCall(Struct, frozen=True):
    """A call that was refused because nobody could be asked, and the flag or rule that allows it."""

    name: str
    target: str
    way: str


class LeftBehind(Struct, frozen=True):
    """Something that a command changed only in the sandbox, or that the sandbox stopped, as a sentence."""

    name: str
    target: str
    what: str


class NotDone:
    """Collects both from events, each once."""

    def __init__(self) -> None:
        self._asking: dict[str, tuple[str, str]] = {}
        self._refused: dict[RefusedCall, None] = {}
        self._left: dict[LeftBehind, None] = {}

    def note(self, event: Event) -> None:
        """Take what an event says about it."""
        match event:
            case AgentEvent():
                self.note(event.event)
            case ToolStarted() | ApprovalRequested():
                self._asking[event.id] = (event.name, event.target)
            case ApprovalAnswered(by="headless"):
                self._refuse(event.id, event.message.removeprefix(f"{NOBODY}; "))
            case HostContacted() if event.problem.startswith(NOBODY_IN_BACKGROUND):
                self._refuse(event.id, event.problem.removeprefix(f"{NOBODY_IN_BACKGROUND}; "))
            case ToolFinished():
                self._leave(event.name, event.target, event.result.left_behind)
            case BackgroundChanged():
                for task in event.ended:
                    self._leave("bash", task.command, task.left_behind)
            case _:
                pass

    def _refuse(self, call: str, way: str) -> None:
        self._refused[RefusedCall(*self._asking.get(call, ("", "")), way)] = None

    def _leave(self, name: str, target: str, sentences: Sequence[str]) -> None:
        self._left |= dict.fromkeys(LeftBehind(name, target, what) for what in sentences)

    @property
    def record(self) -> dict[str, Any]:
        """Both lists for the JSON formats."""
        return {
            "refused": to_builtins(list(self._refused)),
            "left_behind": to_builtins(list(self._left)),
        }

    def lines(self) -> Iterator[str]:
        """Both lists for a person; nothing for none."""
        if self._refused:
            yield "Refused, because there was nobody to ask:"
            yield from _listed([f"{each.name} {each.target}: {each.way}" for each in self._refused])
        if self._left:
            yield "Held back by the sandbox (--mode auto --no-sandbox runs commands without it):"
            yield from _listed([f"{each.name} {each.target}: {each.what}" for each in self._left])


def _listed(rows: Sequence[str]) -> Iterator[str]:
    yield from (f"- {row}" for row in rows[:_MOST_SHOWN])
    if more := len(rows[_MOST_SHOWN:]):
        yield f"- and {more:,} more"
