"""Slash commands in an editor: their list, and the `CommandUi` that they get there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    UnstructuredCommandInput,
)

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.acp.asking import EditorAnswer
from keen_tui.frontends.acp.pages import page_text
from keen_tui.frontends.shared.commands import (
    agents,
    changes,
    memory,
    permissions,
    servers,
    skills,
    tasks,
    turns,
    until,
)
from keen_tui.frontends.shared.commands.command import Command, CommandContext
from keen_tui.frontends.shared.commands.models import COMMANDS as OF_MODELS
from keen_tui.frontends.shared.commands.pages import HELP, USAGE
from keen_tui.frontends.shared.commands.sessions import EXPORT, RENAME
from keen_tui.frontends.shared.commands.slash import Called, Offered, PromptCall, SlashCommands
from keen_tui.frontends.shared.lines.page_lines import with_words
from keen_tui.frontends.shared.lines.question_lines import permission_choices, permission_lines, undo_lines
from keen_tui.frontends.shared.lines.session_stats import SessionStats
from keen_tui.frontends.shared.pages import HelpPage, Page, SignInPage
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.shared.questions import (
    Choice,
    CommandQuestion,
    MemoryQuestion,
    PermissionsQuestion,
    UndoQuestion,
)
from keen_tui.frontends.shared.server_words import page_words
from keen_tui.system.paths import home_relative
from keen_tui.text.labels import memory_words
from keen_tui.text.sanitize import clean

_Answer = TypeVar("_Answer")

_CHECK: Final = next(command for command in OF_MODELS if "check" in command.slash)

COMMANDS: Final[tuple[Command, ...]] = (
    *turns.COMMANDS,
    turns.STEER,
    *until.COMMANDS,
    *memory.COMMANDS,
    *permissions.COMMANDS,
    *changes.COMMANDS,
    RENAME,
    EXPORT,
    USAGE,
    *skills.COMMANDS,
    *agents.COMMANDS,
    *servers.COMMANDS,
    *tasks.COMMANDS,
    _CHECK,
    HELP,
)
"""The commands for editors. An editor has its own controls to begin, open and fork sessions, and to choose a
mode and a model."""

_NAMES: Final = frozenset(name for command in COMMANDS for name in command.slash)


class EditorVoice(Protocol):
    """Shows sentences in the session, and asks."""

    async def say(self, text: str) -> None:
        """Show the text after everything that has happened so far."""

    async def ask(
        self, title: str, body: tuple[str, ...], choices: tuple[Choice, ...]
    ) -> EditorAnswer | None:
        """The person's answer; None if there is none."""


class EditorUi:
    """The editor as commands see it. `flush` shows the sentences that they said."""

    draft = ""
    """Always "": Keen doesn't know what the person is writing."""

    def __init__(
        self, setup: FrontEndSetup, voice: EditorVoice, stats: SessionStats, slash: SlashCommands
    ) -> None:
        self.context = CommandContext(self, setup)
        self._voice = voice
        self._stats = stats
        self._slash = slash
        self._said: list[str] = []

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(self._stats.turns)

    @property
    def title(self) -> str:
        """The title of the session, "" while it has none."""
        return self._stats.title

    def say(self, text: str) -> None:
        """Say a sentence."""
        self._said.append(text)

    def narrate(self, text: str) -> None:
        """Say it: an editor shows nothing on its own."""
        self._said.append(text)

    def confirm(self, text: str) -> None:
        """Say it: no update of the protocol tells the editor."""
        self._said.append(text)

    def tell_written(self, file: Path) -> None:
        """Say that a file was written."""
        self._said.append(f"Exported to {home_relative(file)}.")

    def write(self, text: str) -> None:
        """Does nothing: the message field belongs to the editor."""

    def apply_setting(self, name: str, value: Any) -> None:
        """Does nothing: no command for editors changes settings."""

    async def ask(self, question: CommandQuestion) -> str:
        """Ask; returns the id of the answer, "" for none."""
        await self.flush()
        answer = await self._voice.ask(
            question.title, tuple(_lines_of(question, self._stats)), tuple(_choices_of(question))
        )
        return answer.id if answer else ""

    async def show(self, page: Page) -> None:
        """Say the page. Raises SessionRefused if it needs a terminal."""
        match page:
            case HelpPage(words):
                self.say("\n".join(f"- {line}" for line in with_words(_help(self._slash), words)))
            case SignInPage(sign_in):
                self.say(f"{page_words(sign_in)}\n\n{clean(sign_in.url)}")
                await self.flush()
                try:
                    self.say(await sign_in.ended())
                finally:
                    sign_in.cancel()
            case _:
                self.say(page_text(page, self._stats))

    async def wait(self, answer: Awaitable[_Answer], server: str) -> _Answer:
        """Wait for the server's answer."""
        await self.flush()
        return await answer

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Raises SessionRefused: the editor itself begins and opens sessions."""
        raise SessionRefused("Begin or open sessions in the editor.")

    def leave(self, *, to_models: bool = False) -> None:
        """Does nothing: the program ends when its editor closes it."""

    async def flush(self) -> None:
        """Show what was said so far."""
        said, self._said = self._said, []
        if text := "\n\n".join(filter(None, said)):
            await self._voice.say(text)


async def run_command(ui: EditorUi, slash: SlashCommands, called: Called) -> str:
    """Run a command. Returns the message to send, "" for none. Raises KeenError with a sentence."""
    if called.message is not None:
        return called.message
    if refusal := slash.refusal(called):
        raise SessionRefused(refusal)
    if isinstance(called.what, PromptCall):
        return await called.what.text()
    if not isinstance(called.what, Command) or called.what not in COMMANDS:
        raise SessionRefused(f"/{called.name} doesn't work in an editor: start keen-tui in a terminal.")
    try:
        await called.what.does(ui.context, called.words)
    finally:
        await ui.flush()
    return ""


def offered_update(slash: SlashCommands) -> AvailableCommandsUpdate:
    """All commands, for the editor's completion."""
    commands = [
        AvailableCommand(
            name=each.names[0],
            description=clean(each.help) or each.names[0],
            input=AvailableCommandInput(root=UnstructuredCommandInput(hint=clean(each.takes)))
            if each.takes
            else None,
        )
        for each in _offered(slash)
    ]
    return AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands)


def _offered(slash: SlashCommands) -> Iterator[Offered]:
    own = {command.name for command in slash.own} | {name for each in slash.prompts for name in each.names}
    return (each for each in slash.offered if _NAMES.union(own).intersection(each.names))


def _help(slash: SlashCommands) -> Iterator[str]:
    for each in _offered(slash):
        names = ", ".join(f"/{name}" for name in each.names)
        yield f"`{names}{f' {each.takes}' if each.takes else ''}`: {each.help.rstrip('.')}."


def _lines_of(question: CommandQuestion, stats: SessionStats) -> Iterator[str]:
    match question:
        case PermissionsQuestion():
            yield from permission_lines(question)
        case UndoQuestion():
            yield from undo_lines(question)
        case MemoryQuestion():
            yield f"In use: {question.policy}."
            for turn, memory in stats.memory.items():
                if words := memory_words(memory):
                    yield f"Turn {turn}: {words}."
        case _:
            yield from question.body


def _choices_of(question: CommandQuestion) -> Iterator[Choice]:
    match question:
        case PermissionsQuestion():
            yield from permission_choices(question)
            yield Choice(id="stay", label="change nothing")
        case MemoryQuestion():
            yield from question.choices
            yield Choice(id="stay", label="change nothing")
        case _:
            yield from question.choices
