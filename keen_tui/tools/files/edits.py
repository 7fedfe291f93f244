"""Replaces text in text: exactly, at a unique place, and nothing outside that place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from keen_tui.domain.errors import ToolFailure
from keen_tui.text.lines import LINE_END, endings, line_ends, usual_ending
from keen_tui.tools.files.nearest import nearest_lines

_ANY_LINE_END = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"
_MOST_LINES_NAMED = 10

TextRange = tuple[int, int]


def replace_text(content: str, old: str, new: str, *, everywhere: bool) -> str:
    """`content` with `old` replaced by `new`, once or everywhere.

    All kinds of line endings match each other; the new text gets those of the file.

    Raises:
        ToolFailure: nothing to do, no match (the message shows the nearest lines), or several matches (the
            message lists them).
    """
    if not old:
        raise ToolFailure("old_text is empty. To fill or replace a whole file use write_file.")
    if LINE_END.split(old) == LINE_END.split(new):
        raise ToolFailure(
            "old_text and new_text are the same: there is nothing to change. (Line endings stay as they are.)"
        )
    pattern = _pattern(old)
    spans = list(_spans(content, pattern, overlapping=not everywhere))
    if not spans:
        raise ToolFailure(f"old_text was not found. {nearest_lines(content, old)}")
    if len(spans) > 1 and not everywhere:
        raise ToolFailure(
            f"old_text occurs {len(spans)} times, in lines {_line_numbers(content, spans)}. "
            "Add lines around it until it is unique, or set replace_all."
        )
    return _replaced(content, spans, old, new)


def in_style_of(before: str, content: str) -> str:
    """`content` with the line endings of `before`, if those are all the same and `content` has only LF."""
    used = endings(before)
    if len(used) != 1 or "\r" in content:
        return content
    return content.replace("\n", used.pop())


def _pattern(old: str) -> re.Pattern[str]:
    return re.compile(_ANY_LINE_END.join(re.escape(line) for line in LINE_END.split(old)))


def _spans(content: str, pattern: re.Pattern[str], *, overlapping: bool) -> Iterator[TextRange]:
    """The matches; with `overlapping` also those that begin inside another one."""
    position = 0
    while match := pattern.search(content, position):
        yield match.span()
        position = match.start() + 1 if overlapping else match.end()


def _replaced(content: str, spans: Sequence[TextRange], old: str, new: str) -> str:
    usual = usual_ending(content) or "\n"
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        around = content[start - 1 : start] if start else "", content[end : end + 1]
        pieces += content[position:start], _fitted(content[start:end], old, new, usual, around)
        position = end
    pieces.append(content[position:])
    return "".join(pieces)


def _fitted(replaced: str, old: str, new: str, usual: str, around: tuple[str, str]) -> str:
    """The new text with the line endings that fit its place, between the characters `around`.

    Lines that old and new text share at their beginning and end keep their endings from the file.
    """
    there = LINE_END.findall(replaced)
    old_lines, new_lines = LINE_END.split(old), LINE_END.split(new)
    wanted = len(new_lines) - 1
    most = min(len(there), wanted)
    head = min(_shared(old_lines, new_lines), most)
    tail = min(_shared(old_lines[::-1], new_lines[::-1]), most - head)
    middle = usual_ending(replaced) or usual
    ends = [*there[:head], *[middle] * (wanted - head - tail), *there[len(there) - tail :]]
    return _joined(new_lines, ends, *around)


def _joined(lines: Sequence[str], ends: Sequence[str], before: str, behind: str) -> str:
    """The lines with their endings. A CR and an LF that are two endings don't merge into one."""
    text = before
    for line, end in zip(lines, [*ends, ""], strict=True):
        text += line
        text += "\r\n" if text.endswith("\r") and end == "\n" else end
    if text.endswith("\r") and behind == "\n" and lines[-1] == "" and ends:
        text += "\n"
    return text[len(before) :]


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _line_numbers(content: str, spans: Sequence[TextRange]) -> str:
    numbers = [line_ends(content[:start]) + 1 for start, _ in spans[:_MOST_LINES_NAMED]]
    more = ", ..." if len(spans) > _MOST_LINES_NAMED else ""
    return ", ".join(map(str, numbers)) + more
