"""The pages of slash commands as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.acp.tool_calls import fenced
from keen_tui.frontends.shared.changes import ShownFile, not_covered
from keen_tui.frontends.shared.lines.page_lines import (
    agents_lines,
    next_request_lines,
    servers_lines,
    skills_lines,
    tasks_lines,
    usage_lines,
)
from keen_tui.frontends.shared.lines.session_stats import SessionStats
from keen_tui.frontends.shared.pages import (
    AgentsPage,
    ChangesPage,
    ContextPage,
    McpPage,
    Page,
    SkillsPage,
    TasksPage,
    UsagePage,
)
from keen_tui.text.units import counted


def page_text(page: Page, stats: SessionStats) -> str:
    """The page as Markdown. Raises SessionRefused if it needs a terminal."""
    match page:
        case UsagePage():
            return _listed(usage_lines(stats))
        case ContextPage(report):
            return _listed(next_request_lines(report))
        case ChangesPage():
            return "\n\n".join(_changes(page))
        case SkillsPage(skills):
            return _listed(skills_lines(skills))
        case AgentsPage():
            return _listed(agents_lines(page))
        case TasksPage(port, id):
            lines = tuple(tasks_lines(port, id))
            return fenced("\n".join(lines)) if id else _listed(lines)
        case McpPage():
            return _listed(servers_lines(page))
        case _:
            raise SessionRefused("This page needs a terminal: start keen-tui there.")


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _changes(page: ChangesPage) -> Iterator[str]:
    """The changed lines of each file."""
    whose = page.changes.whose or (f"turn {page.changes.turn}" if page.changes.turn else "this session")
    yield f"Changes of {whose}: {counted(len(page.files), 'file')}."
    for file in page.files:
        yield _file(file)
    if words := not_covered(page.changes.unwatched):
        yield f"{words.capitalize()}."


def _file(file: ShownFile) -> str:
    notes = [file.note] if file.note else []
    notes += ["changed since"] if file.changed_since else []
    words = f" ({', '.join(notes)})" if notes else ""
    title = f"**{file.path}**{words}"
    return f"{title}\n{_diff(file.diff)}" if file.diff else f"{title}: {file.instead}"


def _diff(diff: DiffDisplay) -> str:
    rows = [f"{row.sign}{row.text}" for hunk in diff.hunks for row in hunk]
    rows += [f"({counted(diff.left_out, 'more line')})"] if diff.left_out else []
    return fenced("\n".join(rows), "diff")
