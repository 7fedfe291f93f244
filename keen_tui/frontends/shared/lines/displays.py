"""The display data of tools as lines of words, without signs wherever a word will do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

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
    TodoStatus,
)
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import page_line
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_SIGNS: Final = {"+": " added", "-": " removed", " ": ""}
_TODO: Final[dict[TodoStatus, str]] = {"done": "Done", "in_progress": "At work", "pending": "To do"}


def display_lines(display: Display) -> Iterator[str]:
    """The whole display, for somebody who has to judge it."""
    match display:
        case DiffDisplay():
            yield from diff_lines(display)
        case CommandDisplay():
            yield from labelled("Command", revealed(display.command))
        case FileDisplay():
            yield f"File {display.path}, from line {display.first_line}:"
            yield from _whole(display.text).split("\n")
        case FileListDisplay():
            yield from display.lines
            if display.more:
                yield f"And {display.more:,} more."
        case PageDisplay():
            yield f"Page {page_line(display)}."
            yield from _whole(display.text).split("\n")
        case TextDisplay() | AgentDisplay():
            yield from _whole(display.text).split("\n")
        case TodoDisplay():
            yield f"To-do list, {display.progress}."
            yield from (f"{_TODO[item.status]}: {item.text}" for item in display.items)
        case _:
            assert_never(display)


def diff_lines(diff: DiffDisplay) -> Iterator[str]:
    """Each line of a change, with its number and whether it is added or removed."""
    yield f"File {diff.path}: {diff_counts(diff)}."
    for hunk in diff.hunks:
        for row in hunk:
            where = f"Line {row.number}{_SIGNS[row.sign]}: " if row.number else ""
            yield f"{where}{_whole(row.text)}"
    if diff.left_out:
        yield f"And {counted(diff.left_out, 'more line')}, too many to read out."


def _whole(text: str) -> str:
    """The text with readable escape sequences: invisible ones would be approved, too."""
    return clean(text, newlines=True, escapes=True)


def diff_counts(diff: DiffDisplay) -> str:
    """`3 lines added, 1 removed`."""
    return f"{counted(diff.added, 'line')} added, {diff.removed:,} removed"


def labelled(label: str, text: str) -> Iterator[str]:
    """A text after a label; a text of several lines goes between its label and an end line."""
    if "\n" not in text:
        yield f"{label}: {text}"
        return
    lines = text.split("\n")
    yield f"{label}, {counted(len(lines), 'line')}:"
    yield from lines
    yield f"End of the {label.lower()}."
