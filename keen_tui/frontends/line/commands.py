"""Which of the program's actions there are without a screen, and what their commands do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Final

from keen_tui.frontends.line.command_context import LineContext
from keen_tui.frontends.line.model_commands import ModelCommands
from keen_tui.frontends.line.session_commands import SessionCommands
from keen_tui.frontends.line.setting_commands import SettingCommands
from keen_tui.frontends.line.turn_commands import TurnCommands
from keen_tui.frontends.shared.actions import ACTIONS
from keen_tui.frontends.shared.command import Command
from keen_tui.frontends.shared.commands import Offered, SlashCommands

Handler = Callable[[str], Awaitable[None]]
"""What an action does with the words behind its command. Raises KeenError with a sentence."""

_HELP: Final = (
    "Write a message and press enter. A line that ends with a backslash continues in the next one.",
    "Lines that come at once, as a paste does, are one message. A message sent while a turn runs is queued.",
    "Questions are answered by a number. Ctrl+C stops the turn, again within two seconds it leaves.",
    "Ctrl+D on an empty line leaves. !COMMAND runs a command of your own.",
)


class PlainCommands:
    """What the commands do, by their ids."""

    def __init__(
        self, context: LineContext, slash: SlashCommands, leave: Callable[[], Awaitable[None]]
    ) -> None:
        self._context = context
        self._slash = slash
        self.models = ModelCommands(context)
        self.sessions = SessionCommands(context)
        turns, settings = TurnCommands(context), SettingCommands(context)

        async def leaving(words: str) -> None:
            await leave()

        shared = {
            each.id: partial(each.does, context.shared) for each in ACTIONS if isinstance(each, Command)
        }
        self.handlers: Mapping[str, Handler] = shared | {
            "steer": turns.steer,
            "models": self.models.choose,
            "check_connection": self.models.check,
            "enter_key": self.models.key,
            "name_server": self.models.server,
            "sessions": self.sessions.resume,
            "context": turns.context,
            "memory": turns.memory,
            "usage": turns.usage,
            "settings": settings.settings,
            "diff": turns.diff,
            "undo": turns.undo,
            "help": self.help,
            "leave": leaving,
        }

    async def help(self, words: str) -> None:
        """Tell what can be written here."""
        self._context.say(*_HELP)
        here = {action.slash for action in ACTIONS if action.id in self.handlers}
        own = {(command.name,) for command in self._slash.custom}
        for offered in self._slash.offered:
            if offered.names in here | own:
                self._context.printer.read(_help_line(offered))


def _help_line(offered: Offered) -> Iterator[str]:
    first, *others = offered.names
    also = f", also {', '.join(f'/{name}' for name in others)}" if others else ""
    yield f"/{first}{f' {offered.takes}' if offered.takes else ''}{also}: {offered.help.rstrip('.')}."
