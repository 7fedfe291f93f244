"""The parts of a tool call in the protocol: title, kind, locations and content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, assert_never

from acp.helpers import text_block, tool_content
from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallStatus,
    ToolKind,
)

from keen_tui.domain.display import (
    AgentDisplay,
    CommandDisplay,
    DiffDisplay,
    Display,
    FileDisplay,
    FileListDisplay,
    PageDisplay,
    TextDisplay,
    TodoDisplay,
)
from keen_tui.domain.messages import ToolResult
from keen_tui.domain.own_tools import own_tool
from keen_tui.frontends.acp.diffs import diffs_of
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import (
    SERVER_TOOLS,
    changed_words,
    page_line,
    tool_label,
)
from keen_tui.text.outcomes import not_done_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

CallContent = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

_TITLE_LENGTH: Final = 200
_TICKS: Final = re.compile("`{3,}")


def kind_of(name: str) -> ToolKind:
    """The protocol's kind for the calls of a tool."""
    return own_tool(name).kind


def title_of(name: str, target: str) -> str:
    """The title of a call: the command, or the tool and its target (`Read src/cart.py`)."""
    line = revealed(first_line(target)).strip()
    more = "…" if "\n" in target.strip() or len(line) > _TITLE_LENGTH else ""
    line = f"{line[:_TITLE_LENGTH]}{more}"
    if name == "bash" and line:
        return line
    if name.startswith(SERVER_TOOLS) and line:
        return line
    label = tool_label(name).capitalize()
    return f"{label} {line}" if line else label


def places_of(name: str, arguments: Mapping[str, Any], workspace: Path) -> list[ToolCallLocation]:
    """The file that the arguments of a call name, at most one."""
    path = arguments.get("path")
    if not own_tool(name).takes_path or not isinstance(path, str) or not path.strip() or "\0" in path:
        return []
    first = arguments.get("offset") if name == "read_file" else None
    line = first if isinstance(first, int) and first > 0 else None
    return [ToolCallLocation(path=_absolute(workspace, path), line=line)]


def changed_places(display: Display | None, workspace: Path) -> list[ToolCallLocation]:
    """The files that a call has changed, or would change."""
    match display:
        case DiffDisplay():
            return [_place(display, workspace)]
        case CommandDisplay():
            return [ToolCallLocation(path=_absolute(workspace, each.path)) for each in display.changed]
    return []


def status_of(result: ToolResult) -> ToolCallStatus:
    """The status of a finished call: `completed` or `failed`."""
    return "completed" if result.outcome == "done" else "failed"


async def content_of_question(display: Display | None, workspace: Path) -> list[CallContent]:
    """The content of an approval: what the call would do."""
    match display:
        case None:
            return []
        case DiffDisplay():
            return [*await diffs_of(display, workspace, reads=True)]
        case CommandDisplay():
            risks = [
                f"Look here: {revealed(part.text)}: {part.note}." for part in display.parts if part.is_risky
            ]
            return texts_of([fenced(revealed(display.command), "sh"), *risks])
        case _:
            return texts_of([_whole(display)])


async def content_of_result(
    result: ToolResult, workspace: Path, *, reads: bool, shows_output: bool = True
) -> list[CallContent]:
    """The content of a finished call. `reads`: the files that it changed may be read, for their whole text.
    `shows_output`: the output of a command is part of the content."""
    content: list[CallContent] = []
    display = result.display
    match display:
        case DiffDisplay() if not result.is_error:
            content += await diffs_of(display, workspace, reads=reads)
        case CommandDisplay():
            if shows_output and display.output.strip():
                content += texts_of([fenced(display.output, "console")])
            for changed in display.changed:
                if changed.diff is not None and changed.change != "deleted":
                    content += await diffs_of(changed.diff, workspace, reads=reads)
        case None | DiffDisplay():
            pass
        case _:
            content += texts_of([_whole(display)])
    return content + texts_of(list(_remarks(result)))


def _remarks(result: ToolResult) -> Iterator[str]:
    """Sentences about a result, in addition to its display data."""
    if words := not_done_words(result):
        yield f"{words[:1].upper()}{words[1:]}."
    elif result.is_error:
        yield clean(result.text, newlines=True)
    elif result.display is None and result.summary:
        yield clean(result.summary)
    if result.exit_code:
        yield f"Exit code {result.exit_code}."
    if result.outside:
        yield "It ran outside the sandbox."
    if words := changed_words(result.display):
        yield f"It {words}."


def fenced(text: str, language: str = "") -> str:
    """A text as a code block in Markdown. No text can end its fence early."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    ending = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{ending}{fence}"


def _whole(
    display: FileDisplay | FileListDisplay | PageDisplay | TextDisplay | AgentDisplay | TodoDisplay,
) -> str:
    match display:
        case FileDisplay():
            return fenced(clean(display.text, newlines=True, tabs=True))
        case FileListDisplay():
            more = (f"and {display.more:,} more",) if display.more else ()
            return fenced("\n".join((*(clean(line, tabs=True) for line in display.lines), *more)))
        case PageDisplay():
            return f"{page_line(display)}\n\n{fenced(clean(display.text, newlines=True))}"
        case TextDisplay() | AgentDisplay():
            return clean(display.text, newlines=True)
        case TodoDisplay():
            return display.as_text
        case _:
            assert_never(display)


def texts_of(texts: Sequence[str]) -> list[CallContent]:
    """Texts as content; empty ones are left out."""
    return [tool_content(text_block(text)) for text in texts if text.strip()]


def _place(diff: DiffDisplay, workspace: Path) -> ToolCallLocation:
    changed = (row.number for hunk in diff.hunks for row in hunk if row.sign == "+" and row.number)
    return ToolCallLocation(path=_absolute(workspace, diff.path), line=next(changed, None))


def _absolute(workspace: Path, path: str) -> str:
    """The path as editors want it: absolute."""
    try:
        return str(workspace / Path(path).expanduser())
    except RuntimeError:  # there is no such user
        return str(workspace / path)
