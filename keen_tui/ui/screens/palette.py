"""What the command palette finds: every listed action, every permission mode, every theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, Protocol, cast, get_args

from textual.command import DiscoveryHit, Hit, Hits, Provider

from keen_tui.choices import Mode
from keen_tui.ui.actions import listed
from keen_tui.ui.commands import SlashCommands
from keen_tui.ui.keymap import keys_of, shown_key
from keen_tui.ui.wording import MODES


class Workspace(Protocol):
    """What the commands act on."""

    @property
    def commands(self) -> SlashCommands:
        """All slash commands."""

    def run(self, action_id: str) -> None:
        """Run the action of that id."""

    def offer_command(self, name: str) -> None:
        """Send a command of one's own, or have its words written first."""

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode."""

    def keep_theme(self, name: str) -> None:
        """Use a theme from now on."""


class HasWorkspace(Protocol):
    """The app, as far as the palette needs it."""

    @property
    def workspace(self) -> Workspace:
        """Where the commands act."""

    @property
    def theme_names(self) -> list[str]:
        """The themes to choose from."""


class _Command(NamedTuple):
    label: str
    help: str
    run: Callable[[], None]


class KeenCommands(Provider):
    """Textual's palette asks this for what it offers."""

    async def discover(self) -> Hits:
        for command in self._commands():
            yield DiscoveryHit(command.label, command.run, help=command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(command.label)
            if score > 0:
                yield Hit(score, matcher.highlight(command.label), command.run, help=command.help)

    def _commands(self) -> Iterator[_Command]:
        app = cast(HasWorkspace, self.app)
        workspace = app.workspace
        for action in listed():
            keys = "".join(f"{shown_key(key)}   " for key in keys_of(action)[:1])
            yield _Command(action.label, f"{keys}{action.help}", partial(workspace.run, action.id))
        for command in workspace.commands.custom:
            hint = f" {command.hint}" if command.hint else ""
            run = partial(workspace.offer_command, command.name)
            yield _Command(f"/{command.name}{hint}", command.description, run)
        for mode in get_args(Mode):
            yield _Command(f"Mode: {mode}", MODES[mode], partial(workspace.set_mode, mode))
        for name in app.theme_names:
            yield _Command(f"Theme: {name}", "changes the colours", partial(workspace.keep_theme, name))
