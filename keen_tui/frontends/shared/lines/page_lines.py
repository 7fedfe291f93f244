"""The pages that commands show, in lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from keen_tui.domain.reports import POLICIES, CacheReuse, ContextReport, PartSize
from keen_tui.domain.servers import ServerReport
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.frontends.shared.changes import ShownFile, not_covered
from keen_tui.frontends.shared.commands.agents import rights_of
from keen_tui.frontends.shared.lines.displays import diff_lines
from keen_tui.frontends.shared.lines.session_stats import SessionStats
from keen_tui.frontends.shared.pages import AgentsPage, ChangesPage, McpPage, ShownSkill
from keen_tui.frontends.shared.server_words import facts, state_words
from keen_tui.text.sanitize import clean
from keen_tui.text.spending import percent_of, whole_history
from keen_tui.text.units import counted, dollars, duration, size, tokens

if TYPE_CHECKING:
    from keen_tui.frontends.shared.tasks_port import TasksPort

_LONGEST = 200
"""Characters of the description of a server's tool that are shown."""


def skills_lines(skills: Sequence[ShownSkill]) -> Iterator[str]:
    for skill in skills:
        used = "" if skill.used_bytes is None else f" In use, {size(skill.used_bytes)}."
        what = f": {clean(skill.description).rstrip('.')}." if skill.description else "."
        yield f"{skill.name}, from {clean(skill.where)}, {skill.used_by}{what}{used}"
        if skill.remarks:
            yield f"About {skill.name}: {clean('; '.join(skill.remarks))}."
    if any(skill.used_bytes is not None for skill in skills):
        yield "/skills unload NAME unloads one."


def agents_lines(page: AgentsPage) -> Iterator[str]:
    for agent in page.agents:
        rights = f"{', '.join(rights_of(agent))}."
        yield f"{agent.name}, {agent.source}: {agent.description.rstrip('.')}. Rights: {rights}"
        if agent.remarks:
            yield f"About {agent.name}: {'; '.join(agent.remarks)}."
    yield from page.problems


def tasks_lines(port: TasksPort, id: str) -> Iterator[str]:
    if id:
        yield from port.output(id).strip("\n").split("\n")
    for task in port.tasks():
        if id not in ("", task.id):
            continue
        last = f" Its last line: {task.last_line}" if task.last_line else ""
        yield f"{task.id} {task.state}: {task.command}. {size(task.bytes)} of output.{last}"
    if any(task.running for task in port.tasks()):
        yield "/tasks stop ID ends one."


def usage_lines(stats: SessionStats) -> Iterator[str]:
    """Yields the usage of each turn, and of all turns together."""
    whole = NOTHING
    for turn, spent in sorted(stats.spent.items()):
        took = f", {duration(stats.seconds[turn])}" if turn in stats.seconds else ""
        yield f"{f'Turn {turn}' if turn else 'Summaries, titles and reviews'}: {_figures(spent)}{took}."
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


def next_request_lines(report: ContextReport) -> Iterator[str]:
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


def changes_lines(page: ChangesPage) -> Iterator[str]:
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
        yield "It has changed since."


def servers_lines(page: McpPage) -> Iterator[str]:
    """All servers, a line each; or one with its tools and its log."""
    servers = page.port.servers()
    chosen = next((server for server in servers if server.name == page.name), None)
    if chosen:
        yield from _server_lines(chosen)
        return
    yield (
        "MCP servers. /mcp NAME shows the tools and the log of one; /mcp restart NAME restarts it, "
        "/mcp login NAME signs in to it."
    )
    for server in servers:
        yield f"{server.name}: {state_words(server)}."


def _server_lines(server: ServerReport) -> Iterator[str]:
    yield f"{server.name}: {state_words(server)}."
    yield from (f"{fact}." for fact in facts(server))
    for tool in server.tools:
        unused = "" if tool.is_used else ", not used"
        yield f"Tool {tool.name}{unused}: {tool.description[:_LONGEST]}"
    yield "Its log:" if server.log else "It has logged nothing."
    yield from server.log


def with_words(lines: Iterable[str], words: str) -> Iterator[str]:
    """The lines that contain all of the words, or a sentence that none does."""
    wanted = words.casefold().split()
    found = [line for line in lines if all(word in line.casefold() for word in wanted)]
    yield from found or (f"Nothing here matches {clean(words)}.",)
