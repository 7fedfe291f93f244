"""A tool call as a row of the HTML page that unfolds to what it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from keen_tui.domain.display import (
    AgentDisplay,
    CommandDisplay,
    DiffDisplay,
    FileDisplay,
    FileListDisplay,
    PageDisplay,
    TextDisplay,
    TodoDisplay,
)
from keen_tui.domain.messages import ToolResult
from keen_tui.export.document import CallState, ExportedCall
from keen_tui.export.html_markdown import block_text, coloured_html, line_text
from keen_tui.export.phrases import call_sign, call_time, outcome
from keen_tui.text.highlighting import highlight_hunk, safe_code
from keen_tui.text.labels import changed_words, page_line, tool_label
from keen_tui.text.units import counted

LINES_SHOWN: Final = 80
"""Lines of a file, a list or an output; the page says how many are left out of the middle."""

_CLASSES: Final[dict[CallState, str]] = {"done": "ok", "failed": "failed"}
_SIGNS: Final = {"+": "add", "-": "del", " ": ""}


def call_html(call: ExportedCall) -> str:
    """The call's row, folded over what it shows where there is any of that."""
    result = call.result
    has_words = result and (result.display or call.state not in ("denied", "not_run"))
    shown = "".join(_shown(result)) if result and has_words else ""
    if not shown:
        return f'<div class="call">{_row(call)}</div>\n'
    return f'<details class="call">\n<summary>{_row(call)}</summary>\n{shown}</details>\n'


def _row(call: ExportedCall) -> str:
    role = _CLASSES.get(call.state, "dim")
    return (
        f'<span class="glyph {role}">{call_sign(call)}</span>'
        f'<span class="tool">{line_text(tool_label(call.started.name))}</span>'
        f'<span class="target">{line_text(call.started.target)}</span>'
        f"{_outcome(call)}"
        f'<span class="time">{call_time(call)}</span>'
    )


def _outcome(call: ExportedCall) -> str:
    diff = call.result.display if call.result and call.state == "done" else None
    if isinstance(diff, DiffDisplay):
        counts = f'<span class="plus">+{diff.added}</span> <span class="minus">−{diff.removed}</span>'
        return f'<span class="outcome">{counts}</span>'
    role = "outcome failed" if call.state == "failed" else "outcome"
    return f'<span class="{role}">{line_text(outcome(call))}</span>'


def _shown(result: ToolResult) -> Iterator[str]:
    match result.display:
        case DiffDisplay() as diff:
            yield f'<pre class="diff">{"".join(_diff_rows(diff))}</pre>\n'
        case CommandDisplay() as ran:
            prompt = f'<span class="dim">$</span> {block_text(ran.command)}'
            yield f"<pre>{prompt}\n{_bounded(ran.output)}</pre>\n"
            if words := changed_words(ran):
                yield f"<p>{line_text(words)}</p>\n"
            for file in ran.changed:
                if file.diff and file.diff.hunks:
                    name = f'<span class="dim">{line_text(file.path)}</span>'
                    yield f'<pre class="diff">{name}\n{"".join(_diff_rows(file.diff))}</pre>\n'
        case FileDisplay() as file:
            yield f'<pre class="file">{"".join(_file_rows(file))}</pre>\n'
        case FileListDisplay() as found:
            more = f"\n… {found.more:,} more" if found.more else ""
            yield f"<pre>{_bounded(chr(10).join(found.lines))}{more}</pre>\n"
        case TodoDisplay() as todos:
            yield f"<pre>{_bounded(todos.as_text)}</pre>\n"
        case PageDisplay() as page:
            yield f'<p class="dim">{line_text(page.title)} {line_text(page_line(page))}</p>\n'
            yield f"<pre>{_bounded(page.text)}</pre>\n"
        case TextDisplay(text=text) | AgentDisplay(text=text):
            yield f"<pre>{_bounded(text)}</pre>\n"
        case None:
            yield f"<pre>{_bounded(result.text)}</pre>\n" if result.text.strip() else ""


def _diff_rows(diff: DiffDisplay) -> Iterator[str]:
    for position, hunk in enumerate(diff.hunks):
        if position:
            yield _numbered("…", "")
        for row, coloured in zip(
            hunk, highlight_hunk(hunk, diff.path, diff.opened_before(position)), strict=True
        ):
            yield _numbered(str(row.number), f"<b>{row.sign}</b>{coloured_html(coloured)}", _SIGNS[row.sign])
    if diff.left_out:
        yield _numbered("…", counted(diff.left_out, "line"))


def _file_rows(file: FileDisplay) -> Iterator[str]:
    lines = safe_code(file.text.removesuffix("\n")).split("\n")
    numbers = [str(number) for number in range(file.first_line, file.first_line + len(lines))]
    left_out = len(lines) - LINES_SHOWN
    for number, line in zip(_ends(numbers, "…"), _ends(lines, f"{left_out:,} lines"), strict=True):
        yield _numbered(number, line_text(line) if number == "…" else block_text(line))


def _numbered(number: str, html: str, role: str = "") -> str:
    return f'<span class="{f"line {role}".strip()}"><i>{number}</i>{html}</span>'


def _bounded(text: str) -> str:
    lines = text.strip("\n").split("\n")
    return block_text("\n".join(_ends(lines, f"… {len(lines) - LINES_SHOWN:,} lines")))


def _ends(lines: Sequence[str], gap: str) -> Sequence[str]:
    """The first and the last of too many lines, with `gap` between them."""
    if len(lines) <= LINES_SHOWN:
        return lines
    half = LINES_SHOWN // 2
    return [*lines[:half], gap, *lines[-half:]]
