"""Commands that both front ends for a person have: what they are, and what they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.frontends.shared.action import Action

if TYPE_CHECKING:
    from keen_tui.frontends.shared.port import HistoryPort, SessionControls, WatchedSession
    from keen_tui.frontends.shared.questions import CommandQuestion

_Port = TypeVar("_Port")

REPLAY_REFUSAL = "This is a replay: nothing can be changed in it."


class CommandUi(Protocol):
    """A front end as commands see it."""

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""

    def say(self, text: str) -> None:
        """Say a sentence."""

    def narrate(self, text: str) -> None:
        """Say what a screen shows without words."""

    def tell_written(self, file: Path) -> None:
        """Say that a file was written."""

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Do what puts another session in the place of this one. Raises what `action` does, and
        SessionRefused while another one is being opened."""

    def leave(self) -> None:
        """End the program."""


class CommandContext(Struct, frozen=True, kw_only=True):
    """What commands work on; `controls` is None in a replay. `keeps_pending`: the work of an incomplete turn
    outlives the program."""

    ui: CommandUi
    session: WatchedSession
    controls: SessionControls | None
    history: HistoryPort | None
    keeps_pending: bool = False


class WordsRefused(ConfigError):
    """What was written behind a command says nothing. A screen puts it back to be corrected."""


class Command(Action, frozen=True, kw_only=True):
    """An action that is the same in both front ends. `does` gets the words behind it, and raises KeenError
    with a sentence where it can't be done."""

    does: Callable[[CommandContext, str], Awaitable[None]]


def kept(port: _Port | None, what: str) -> _Port:
    """The port, where there is one. Raises SessionRefused: the tour has none."""
    if port is None:
        raise SessionRefused(what)
    return port


def controls_of(context: CommandContext) -> SessionControls:
    """The controls of the session. Raises SessionRefused: a replay has none."""
    return kept(context.controls, REPLAY_REFUSAL)
