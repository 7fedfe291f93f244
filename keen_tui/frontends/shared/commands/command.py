"""Commands that both front ends for a person have, and what they can use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.frontends.shared.action import Action

if TYPE_CHECKING:
    from keen_tui.frontends.shared.pages import Page
    from keen_tui.frontends.shared.port import FrontEndSetup, SessionControls, WatchedSession
    from keen_tui.frontends.shared.questions import CommandQuestion

_Port = TypeVar("_Port")
_Answer = TypeVar("_Answer")

REPLAY_REFUSAL = "This is a replay; you can't change anything in it."


class CommandUi(Protocol):
    """A front end, as commands see it."""

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""

    @property
    def title(self) -> str:
        """The title of the session, "" while it has none."""

    @property
    def draft(self) -> str:
        """The message that is written and not sent, "" for none."""

    def say(self, text: str) -> None:
        """Say a sentence; "" is none."""

    def narrate(self, text: str) -> None:
        """Say something that the screen shows without words."""

    def confirm(self, text: str) -> None:
        """Say what the line front end tells by the event that comes of it."""

    def tell_written(self, file: Path) -> None:
        """Say that a file was written."""

    def write(self, text: str) -> None:
        """Put text where the next message is written, to be completed."""

    def apply_setting(self, name: str, value: Any) -> None:
        """Let a setting of the front end take effect now, where it can."""

    async def ask(self, question: CommandQuestion) -> str:
        """Ask; returns the id of the answer, "" for none."""

    async def show(self, page: Page) -> None:
        """Show a page. Line by line it is told, and what it offers is asked."""

    async def wait(self, answer: Awaitable[_Answer], server: str) -> _Answer:
        """Returns the server's answer. A screen shows how long it has waited for it."""

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action that replaces the session. Raises what `action` does, and SessionRefused while
        another session is being opened."""

    def leave(self, *, to_models: bool = False) -> None:
        """End the program. `to_models`: end the tour; a session follows that begins with the choice of a
        model."""


class CommandContext(Struct, frozen=True):
    """The objects that commands work with."""

    ui: CommandUi
    setup: FrontEndSetup

    @property
    def session(self) -> WatchedSession:
        """The session, as one watches it."""
        return self.setup.session

    @property
    def controls(self) -> SessionControls:
        """The controls of the session. Raises SessionRefused: a replay has none."""
        return kept(self.setup.controls, REPLAY_REFUSAL)

    @property
    def lacks_model(self) -> bool:
        """Whether a model has to be chosen before anything can be said."""
        return self.setup.models is not None and self.setup.models.current is None


class WordsRefused(ConfigError):
    """The arguments of a command make no sense. The screen puts them back to be corrected."""


class Command(Action, frozen=True, kw_only=True):
    """An action that is the same in both front ends. `does` gets the arguments, and raises KeenError with a
    sentence if the action is impossible."""

    restarts: bool = False
    does: Callable[[CommandContext, str], Awaitable[None]]


def kept(port: _Port | None, what: str) -> _Port:
    """The port. Raises SessionRefused if there is none, as in the tour."""
    if port is None:
        raise SessionRefused(what)
    return port
