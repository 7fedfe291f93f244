"""Replacing text in text: exact, unique, and nothing outside the place that was named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from keen_tui.errors import ToolFailure

_LINE_END = re.compile(r"\r\n|\r|\n")
_MOST_LINES_COMPARED = 5_000


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def replace_text(content: str, old: str, new: str, *, everywhere: bool) -> str:
    """`content` with `old` replaced by `new`, once or everywhere.

    Line endings match each other, whichever the file has; the new text gets those of the file.

    Raises:
        ToolFailure: nothing to do, no match (the nearest lines are shown), or several (they are named).
    """
    if not old:
        raise ToolFailure("old_text is empty. To fill or replace a whole file use write_file.")
    if old == new:
        raise ToolFailure("old_text and new_text are the same: there is nothing to change.")
    spans = _find(content, old)
    if not spans:
        raise ToolFailure(_no_match(content, old))
    if len(spans) > 1 and not everywhere:
        lines = ", ".join(str(_line_number(content, span.start)) for span in spans[:10])
        raise ToolFailure(
            f"old_text is there {len(spans)} times, in lines {lines}. Add lines around it until it is "
            "unique, or set replace_all."
        )
    return _replaced(content, spans, new)


def _find(content: str, old: str) -> list[_Span]:
    """All places of `old`, without overlaps. Positions are those of `content` as it is."""
    if "\r" not in content and "\r" not in old:
        return [_Span(match.start(), match.end()) for match in re.finditer(re.escape(old), content)]
    lines = (re.escape(line) for line in _LINE_END.split(old))
    pattern = re.compile(r"(?:\r\n|\r(?!\n)|\n)".join(lines))
    return [_Span(match.start(), match.end()) for match in pattern.finditer(content)]


def _replaced(content: str, spans: list[_Span], new: str) -> str:
    pieces: list[str] = []
    position = 0
    for span in spans:
        ending = _line_ending(content[span.start : span.end]) or _line_ending(content) or "\n"
        pieces += content[position : span.start], ending.join(_LINE_END.split(new))
        position = span.end
    pieces.append(content[position:])
    return "".join(pieces)


def _line_ending(text: str) -> str:
    """The line ending that is there most often, "" when there is none."""
    found = _LINE_END.findall(text)
    return max(("\r\n", "\n", "\r"), key=found.count) if found else ""


def _line_number(content: str, position: int) -> int:
    return len(_LINE_END.findall(content, 0, position)) + 1


def _no_match(content: str, old: str) -> str:
    lines, wanted = content.splitlines(), old.splitlines()
    if not lines:
        return "old_text was not found: the file is empty."
    first = _nearest(lines, wanted)
    near = lines[first : first + len(wanted)]
    same_words = [line.split() for line in near] == [line.split() for line in wanted]
    why = "They differ in white space only. " if same_words else ""
    shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(near[:20], first + 1))
    return (
        f"old_text was not found. The nearest lines are these. {why}"
        f"Copy them exactly, without the line number and the tab:\n{shown}"
    )


def _nearest(lines: list[str], wanted: list[str]) -> int:
    """Index of the line where the block that is most like `wanted` begins."""
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    anchor = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()), default=0)
    matcher.set_seq2(wanted[anchor].strip()[:200])
    best, best_ratio = 0, -1.0
    for index, line in enumerate(lines[:_MOST_LINES_COMPARED]):
        matcher.set_seq1(line.strip()[:200])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = index, ratio
    return max(best - anchor, 0)
