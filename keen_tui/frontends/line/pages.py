"""Prints the pages that commands show."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol, assert_never

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.reports import Setting
from keen_tui.frontends.line.model_pages import LineModels
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import CANCEL, LineAnswer, LineQuestion
from keen_tui.frontends.line.session_pages import choose_session
from keen_tui.frontends.shared.commands.actions import ACTIONS
from keen_tui.frontends.shared.commands.command import Command
from keen_tui.frontends.shared.commands.settings import apply_setting
from keen_tui.frontends.shared.commands.slash import Offered, SlashCommands
from keen_tui.frontends.shared.lines.page_lines import (
    agents_lines,
    changes_lines,
    next_request_lines,
    servers_lines,
    skills_lines,
    tasks_lines,
    usage_lines,
    with_words,
)
from keen_tui.frontends.shared.pages import (
    AgentsPage,
    ChangesPage,
    ContextPage,
    HelpPage,
    KeyPage,
    McpPage,
    ModelsPage,
    Page,
    ReviewPage,
    ServerPage,
    SessionsPage,
    SettingsPage,
    SignInPage,
    SkillsPage,
    TasksPage,
    UsagePage,
)
from keen_tui.frontends.shared.questions import Choice
from keen_tui.frontends.shared.server_words import PASTE_WORDS, page_words
from keen_tui.frontends.shared.servers_port import OpenSignIn
from keen_tui.text.review_words import report_lines
from keen_tui.text.sanitize import clean

if TYPE_CHECKING:
    from keen_tui.frontends.line.ui import LineUi
    from keen_tui.frontends.shared.review_port import ReviewsPort


_HELP: Final = (
    "Write a message and press enter. A line that ends with a backslash continues in the next one.",
    "Lines that arrive together, such as a paste, are one "
    "message. A message sent while a turn runs is queued.",
    "Answer a question with a number. Ctrl+C stops the turn; twice within two seconds quits.",
    "Ctrl+D on an empty line quits. !COMMAND runs a shell command. A ? alone shows this help.",
)


async def show_page(ui: LineUi, page: Page) -> None:
    """Print this page, and ask what it offers. Raises KeenError with a sentence."""
    match page:
        case HelpPage(words):
            ui.printer.read(with_words(_help(ui.slash), words))
        case UsagePage():
            ui.printer.read(usage_lines(ui.stats))
        case ContextPage(report):
            ui.printer.read(next_request_lines(report))
        case ChangesPage():
            ui.printer.read(changes_lines(page))
        case SkillsPage(skills):
            ui.printer.read(skills_lines(skills))
        case AgentsPage():
            ui.printer.read(agents_lines(page))
        case SettingsPage():
            await _show_settings(ui, page)
        case SessionsPage():
            await choose_session(ui, page)
        case ModelsPage(models, words):
            await LineModels(ui, models).choose(words)
        case KeyPage(models):
            await LineModels(ui, models).enter_key()
        case ServerPage(models, address):
            await LineModels(ui, models).name_server(address)
        case TasksPage(port, id):
            ui.printer.read(tasks_lines(port, id))
        case McpPage():
            ui.printer.read(servers_lines(page))
        case SignInPage(sign_in):
            await sign_in_by_lines(ui, sign_in)
        case ReviewPage(port):
            await _review(ui, port)
        case _:
            assert_never(page)


async def _review(ui: LineUi, port: ReviewsPort) -> None:
    """Wait for the end of the review, and print what it found; a cancelled wait stops it."""
    report = port.newest
    if report and port.running:
        ui.printer.say(f"Reviewing {clean(report.scope.title)}. Ctrl+C stops that.")
        try:
            await port.ended()
        except asyncio.CancelledError:
            port.stop()
            raise
    if report := port.newest:
        ui.printer.read(report_lines(report))


def _help(slash: SlashCommands) -> Iterator[str]:
    yield from _HELP
    here = {action.slash for action in ACTIONS if isinstance(action, Command)}
    own = {(command.name,) for command in slash.own} | {prompt.names for prompt in slash.prompts}
    yield from (_help_line(offered) for offered in slash.offered if offered.names in here | own)


def _help_line(offered: Offered) -> str:
    first, *others = offered.names
    also = f", also {', '.join(f'/{name}' for name in others)}" if others else ""
    return f"/{first}{f' {offered.takes}' if offered.takes else ''}{also}: {offered.help.rstrip('.')}."


async def _show_settings(ui: LineUi, page: SettingsPage) -> None:
    """Print every setting, and explain or change one."""
    settings = [setting for setting in page.settings if not setting.in_file]
    choices = (
        Choice(id=each.name, label=each.name, consequence=_value(each), takes_words=True) for each in settings
    )
    question = LineQuestion(
        lines=(
            f"The settings of {page.port.file}.",
            "A number or a name explains a setting. A colon and a value change it, such as mode: auto",
        ),
        choices=(*choices, CANCEL),
    )
    answer = await ui.put(question)
    setting = next((each for each in settings if answer and each.name == answer.id), None)
    if setting and answer and answer.words:
        value = page.port.change(setting.name, answer.words)
        ui.printer.say(f"{setting.name} is now {value}.")
        apply_setting(ui.context, setting.name, value)
    elif setting:
        ui.printer.read(_meaning(setting))


def _value(setting: Setting) -> str:
    return setting.value or "not set"


def _meaning(setting: Setting) -> Iterator[str]:
    yield f"{setting.name}: {setting.meaning}"
    yield f"It is {_value(setting)}{f', from {setting.source}' if setting.source else ''}."
    yield f"Its default: {setting.default or 'not set'}."
    if setting.choices:
        yield f"Its values: {', '.join(setting.choices)}."


class _LineAsker(Protocol):
    """Prints lines and asks questions."""

    @property
    def printer(self) -> LinePrinter:
        """Prints."""

    async def put(self, question: LineQuestion) -> LineAnswer | None:
        """The person's answer; None if the question was withdrawn."""


async def sign_in_by_lines(ui: _LineAsker, sign_in: OpenSignIn) -> None:
    """Show the page where the user signs in, and wait until that is done, here or in the browser. Raises
    SessionRefused: it failed."""
    ui.printer.say(page_words(sign_in), clean(sign_in.url))
    ended = asyncio.create_task(sign_in.ended())
    asking = asyncio.create_task(_ask_for_address(ui, sign_in))
    try:
        done, _ = await asyncio.wait((ended, asking), return_when=asyncio.FIRST_COMPLETED)
        if asking in done:
            asking.result()
        asking.cancel()
        ui.printer.say(await ended)
    finally:
        asking.cancel()
        ended.cancel()
        sign_in.cancel()


async def _ask_for_address(ui: _LineAsker, sign_in: OpenSignIn) -> None:
    """Ask for the address that the browser was sent to, until it is the right one; without an answer the
    sign-in is given up."""
    lines: tuple[str, ...] = (PASTE_WORDS,)
    while answer := await ui.put(LineQuestion(lines=lines, choices=(CANCEL,), free="the address")):
        try:
            sign_in.paste(answer.words)
        except SessionRefused as refused:
            lines = (str(refused),)
        else:
            return
    sign_in.cancel()
