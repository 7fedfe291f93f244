"""All slash commands, built in, from files, of skills and of servers: which one a message calls, which can be
offered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.commands.actions import ACTIONS
from keen_tui.frontends.shared.commands.servers import NO_SERVERS
from keen_tui.settings.added.custom_commands import CustomCommand, expanded
from keen_tui.text.labels import prompt_hint
from keen_tui.text.nearest import did_you_mean

if TYPE_CHECKING:
    from keen_tui.frontends.shared.servers_port import ServersPort
    from keen_tui.settings.added.skills import Skill

_CALL = re.compile(r"/([\w-]+(?::[\w-]+)*)(?:\s+(.*))?", re.DOTALL)

_PROMPT = re.compile(r"mcp:[\w-]+:[\w-]+")

_BUILT_IN = {command: action for action in ACTIONS for command in action.slash}

BUILT_IN: tuple[str, ...] = tuple(_BUILT_IN)
"""The names of the built-in commands."""


class Offered(Struct, frozen=True):
    """A command as it is offered: its names without the slash, its arguments ("": none), its help."""

    names: tuple[str, ...]
    takes: str
    help: str


class OwnCommand(Struct, frozen=True, kw_only=True):
    """A command from a file or a skill, as pages and lists show it."""

    name: str
    hint: str
    description: str
    kind: Literal["yours", "project", "skill"]


class PromptCall(Struct, frozen=True):
    """The call of a server's prompt, whose text the server fills in when it is sent. Whether there is such a
    prompt is known once its server is ready."""

    command: str
    words: str
    servers: ServersPort | None

    async def text(self) -> str:
        """The text to send. Raises SessionRefused with a sentence."""
        if self.servers is None:
            raise SessionRefused(f"There is no command /{self.command}: {NO_SERVERS}")
        return await self.servers.prompt(self.command, self.words)


class Called(Struct, frozen=True):
    """The call in a message: an action, a command from a file, a skill or a server's prompt; None if there is
    none of that name."""

    name: str
    words: str
    what: Action | CustomCommand | Skill | PromptCall | None

    @property
    def is_sent(self) -> bool:
        """Whether a message comes of it."""
        return isinstance(self.what, PromptCall) or self.message is not None

    @property
    def message(self) -> str | None:
        """The message that is sent for it: the text of the command, or the call of the skill, whose text
        follows when the turn begins. None if nothing is sent, or a server fills it in first."""
        if self.what is None or isinstance(self.what, Action | PromptCall):
            return None
        if isinstance(self.what, CustomCommand):
            return expanded(self.what, self.words)
        return f"/{self.name} {self.words}".rstrip()


class SlashCommands:
    """Finds commands by their names."""

    def __init__(
        self,
        custom: Iterable[CustomCommand] = (),
        skills: Iterable[Skill] = (),
        servers: ServersPort | None = None,
    ) -> None:
        self._servers = servers
        custom, skills = tuple(custom), tuple(skill for skill in skills if skill.for_person)
        self._own: dict[str, CustomCommand | Skill] = {each.name: each for each in custom}
        self._own |= {each.name: each for each in skills}
        self.own = (
            *(
                OwnCommand(name=each.name, hint=each.hint, description=each.description, kind=each.origin)
                for each in custom
            ),
            *(
                OwnCommand(
                    name=each.name, hint=each.hint or "[words]", description=each.description, kind="skill"
                )
                for each in skills
            ),
        )
        """Those that aren't built in."""

    @property
    def offered(self) -> tuple[Offered, ...]:
        """Every command: the built-in ones first."""
        built_in = (Offered(each.slash, each.takes, each.help) for each in ACTIONS if each.slash)
        own = (Offered((command.name,), command.hint, command.description) for command in self.own)
        return (*built_in, *own, *self.prompts)

    @property
    def prompts(self) -> tuple[Offered, ...]:
        """The prompts of the servers that are ready."""
        found = self._servers.prompts() if self._servers else ()
        return tuple(Offered((each.command,), prompt_hint(each), each.description) for each in found)

    def called(self, message: str) -> Called | None:
        """Returns the call in the message; None for a message to send, such as one that begins with a space.

        A message of several words is a command only if one has that name, and one of several lines only if it
        isn't a built-in one: paths begin with a slash too.
        """
        call = _CALL.fullmatch(message.rstrip())
        if call is None:
            return None
        name, words = call[1].lower(), (call[2] or "").strip()
        what: Action | CustomCommand | Skill | PromptCall | None = _BUILT_IN.get(name) or self._own.get(name)
        if what is None and _PROMPT.fullmatch(name):
            what = PromptCall(name, words, self._servers)
        if not words or (what and not isinstance(what, Action)):
            return Called(name, words, what)
        return Called(name, words, what) if what and "\n" not in message.strip() else None

    def refusal(self, called: Called) -> str:
        """Why it can't be run, "" where it can."""
        if called.what is None:
            known = (f"/{name}" for name in (*_BUILT_IN, *self._own))
            hint = did_you_mean(f"/{called.name}", known) or " /help lists them."
            return f"There is no command /{called.name}.{hint}"
        if called.words and isinstance(called.what, Action) and not called.what.takes:
            return f"/{called.name} takes no arguments. Start with a space to send it as a message."
        return ""

    def refusal_without_screen(self, called: Called) -> str:
        """Why a prompt that calls it can't be sent: it is built in, or unknown."""
        if called.what is not None:
            return f"/{called.name} works only on the screen. Start with a space to send it as a prompt."
        hint = did_you_mean(f"/{called.name}", (f"/{name}" for name in self._own), 3)
        return f"There is no command /{called.name}.{hint} Start with a space to send it as a prompt."
