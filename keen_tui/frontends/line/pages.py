"""Prints the pages that commands show."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, assert_never

from keen_tui.domain.reports import POLICIES, CacheReuse, ContextReport, PartSize
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.frontends.line.displays import diff_lines
from keen_tui.frontends.line.model_pages import LineModels
from keen_tui.frontends.line.server_pages import servers_in_lines, sign_in_by_lines
from keen_tui.frontends.line.session_pages import choose_session
from keen_tui.frontends.line.session_stats import SessionStats
from keen_tui.frontends.line.setting_pages import show_settings
from keen_tui.frontends.shared.actions import ACTIONS
from keen_tui.frontends.shared.changes import ShownFile, not_covered
from keen_tui.frontends.shared.commands.agents import rights_of
from keen_tui.frontends.shared.commands.command import Command
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
    ShownSkill,
    SignInPage,
    SkillsPage,
    TasksPage,
    UsagePage,
)
from keen_tui.frontends.shared.slash import Offered, SlashCommands
from keen_tui.text.review_words import report_lines
from keen_tui.text.sanitize import clean
from keen_tui.text.spending import percent_of, whole_history
from keen_tui.text.units import counted, dollars, duration, size, tokens

if TYPE_CHECKING:
    from keen_tui.frontends.line.ui import LineUi
    from keen_tui.frontends.shared.review_port import ReviewsPort
    from keen_tui.frontends.shared.tasks_port import TasksPort

_HELP: Final = (
    "Write a message and press enter. A line that ends with a backslash continues in the next one.",
    "Lines that come at once, as a paste does, are one message. A message sent while a turn runs is queued.",
    "Questions are answered by a number. Ctrl+C stops the turn, again within two seconds it leaves.",
    "Ctrl+D on an empty line leaves. !COMMAND runs a command of your own.",
)


async def show_page(ui: LineUi, page: Page) -> None:
    """Print this page, and ask what it offers. Raises KeenError with a sentence."""
    match page:
        case HelpPage():
            ui.printer.read(_help(ui.slash))
        case UsagePage():
            ui.printer.read(_usage(ui.stats))
        case ContextPage(report):
            ui.printer.read(_next_request(report))
        case ChangesPage():
            ui.printer.read(_changes(page))
        case SkillsPage(skills):
            ui.printer.read(_skills(skills))
        case AgentsPage():
            ui.printer.read(_agents(page))
        case SettingsPage():
            await show_settings(ui, page)
        case SessionsPage():
            await choose_session(ui, page)
        case ModelsPage(models):
            await LineModels(ui, models).choose()
        case KeyPage(models):
            await LineModels(ui, models).enter_key()
        case ServerPage(models, address):
            await LineModels(ui, models).name_server(address)
        case TasksPage(port, id):
            ui.printer.read(_tasks(port, id))
        case McpPage():
            ui.printer.read(servers_in_lines(page))
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


def _skills(skills: Sequence[ShownSkill]) -> Iterator[str]:
    for skill in skills:
        used = "" if skill.used_bytes is None else f" In use, {size(skill.used_bytes)}."
        what = f": {clean(skill.description).rstrip('.')}." if skill.description else "."
        yield f"{skill.name}, from {clean(skill.where)}, {skill.used_by}{what}{used}"
        if skill.remarks:
            yield f"About {skill.name}: {clean('; '.join(skill.remarks))}."
    if any(skill.used_bytes is not None for skill in skills):
        yield "/skills away NAME puts one away."


def _agents(page: AgentsPage) -> Iterator[str]:
    for agent in page.agents:
        rights = f"{', '.join(rights_of(agent))}."
        yield f"{agent.name}, {agent.source}: {agent.description.rstrip('.')}. Rights: {rights}"
        if agent.remarks:
            yield f"About {agent.name}: {'; '.join(agent.remarks)}."
    yield from page.problems


def _tasks(port: TasksPort, id: str) -> Iterator[str]:
    if id:
        yield from port.output(id).strip("\n").split("\n")
    for task in port.tasks():
        if id not in ("", task.id):
            continue
        last = f" Its last line: {task.last_line}" if task.last_line else ""
        yield f"{task.id} {task.state}: {task.command}. {size(task.bytes)} of output.{last}"
    if any(task.running for task in port.tasks()):
        yield "/tasks stop ID ends one."


def _usage(stats: SessionStats) -> Iterator[str]:
    """What each turn used, and all of them together."""
    whole = NOTHING
    for turn, spent in sorted(stats.spent.items()):
        took = f", {duration(stats.seconds[turn])}" if turn in stats.seconds else ""
        yield f"{f'Turn {turn}' if turn else 'Summaries and titles'}: {_figures(spent)}{took}."
        whole = whole.joined(spent)
    if not whole:
        yield "Nothing used yet."
        return
    yield f"In all: {_figures(whole)}."
    yield whole_history(whole)


def _figures(spent: Spent) -> str:
    sent = f"{spent.new_tokens:,} new tokens and {spent.cached_tokens:,} from the cache sent"
    whole = f"{spent.whole_tokens:,} with the whole history"
    facts = f"{sent}, {whole}, {spent.output_tokens:,} received"
    return facts if spent.cost is None else f"{facts}, {dollars(spent.cost)}"


def _next_request(report: ContextReport) -> Iterator[str]:
    """The parts of the next request."""
    place = POLICIES.index(report.policy)
    yield f"The next request, under the memory policy {report.policy}:"
    for part in report.parts:
        held = part.sizes[place]
        title = f"{part.title}, {part.label}" if part.label else part.title
        includes = f" Includes {held.includes}." if held.includes else ""
        yield f"{title}: {size(held.bytes)}, about {counted(held.tokens, 'token')}.{includes}"
    total = report.totals[place]
    window = f" of {tokens(report.window)}" if report.window else ""
    yield f"In all: {size(total.bytes)}, about {tokens(total.tokens)}{window} tokens."
    for policy, whole, reuse in zip(POLICIES, report.totals, report.reuse, strict=True):
        yield f"Under {policy}: {_reused(reuse, whole)}. {_input_cost(reuse)}"


def _reused(reuse: CacheReuse, whole: PartSize) -> str:
    if reuse.tokens is None:
        return f"{counted(whole.tokens, 'token')}, none of them in a prompt cache yet"
    reused = f"a prompt cache can reuse {reuse.tokens:,} of {counted(whole.tokens, 'token')}"
    return f"{reused}, {percent_of(reuse.tokens, whole.tokens)}" if whole.tokens else reused


def _input_cost(reuse: CacheReuse) -> str:
    if reuse.cost is None:
        return "The price isn't known."
    if reuse.tokens is None:
        return f"The input costs {dollars(reuse.cost)}."
    reused = "an unknown price" if reuse.reused_cost is None else dollars(reuse.reused_cost)
    return f"The input costs {reused} with the cache, {dollars(reuse.cost)} without."


def _changes(page: ChangesPage) -> Iterator[str]:
    """The changed lines of each file."""
    whose = page.changes.whose or (f"turn {page.changes.turn}" if page.changes.turn else "this session")
    yield f"Changes of {whose}: {counted(len(page.files), 'file')}."
    for file in page.files:
        yield from _file_lines(file)
    if words := not_covered(page.changes.unwatched):
        yield f"{words.capitalize()}."


def _file_lines(file: ShownFile) -> Iterator[str]:
    if file.diff:
        yield from diff_lines(file.diff)
    else:
        yield f"File {file.path}: {file.instead}"
    if file.note:
        yield f"This file is {file.note}."
    if file.changed_since:
        yield "It was changed since."
