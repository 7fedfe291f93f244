"""Replaces text in text: exactly, at a unique place, and nothing outside that place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from keen_tui.domain.errors import ToolFailure
from keen_tui.text.lines import LINE_END, cut, endings, line_ends, lines_of, usual_ending

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


_MOST_COMPARED = 5_000
_MOST_SHOWN = 20
_LONGEST_COMPARED = 200
_LONGEST_SHOWN = 500
_NUMBERED = re.compile(r"\s*\d+\t")


def nearest_lines(content: str, wanted_text: str) -> str:
    """A message for the model: the most similar lines of the file, and how they differ."""
    lines, wanted = lines_of(content), lines_of(wanted_text)
    if not lines:
        return "The file is empty."
    if all(_NUMBERED.match(line) for line in wanted):
        return "It begins with line numbers, which read_file adds and the file does not have: leave them out."
    first = _best_start(lines, wanted)
    near = lines[first : first + len(wanted)]
    same_words = [line.split() for line in near] == [line.split() for line in wanted]
    why = "They differ only in white space. " if same_words else ""
    shown = "\n".join(
        f"{number}\t{cut(line, _LONGEST_SHOWN)}" for number, line in enumerate(near[:_MOST_SHOWN], first + 1)
    )
    return (
        f"The nearest lines are these. {why}Copy them exactly, without the line number and the tab:\n{shown}"
    )


def _best_start(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """Index of the line where the block most similar to `wanted` begins, found by its longest line."""
    anchor = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()), default=0)
    text = wanted[anchor].strip() if wanted else ""
    same = [index for index, line in enumerate(lines) if line.strip() == text]
    if same:
        found = max(same[:_MOST_COMPARED], key=lambda index: _same_around(lines, wanted, index - anchor))
    else:
        found = _most_similar(lines, text[:_LONGEST_COMPARED])
    return max(found - anchor, 0)


def _same_around(lines: Sequence[str], wanted: Sequence[str], start: int) -> int:
    """How many of the wanted lines match, apart from white space, if the block begins at `start`."""
    around = lines[max(start, 0) : max(start, 0) + len(wanted)]
    return sum(one.split() == other.split() for one, other in zip(around, wanted, strict=False))


def _most_similar(lines: Sequence[str], text: str) -> int:
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    matcher.set_seq2(text)
    best, best_ratio = 0, -1.0
    for index, line in enumerate(lines[:_MOST_COMPARED]):
        matcher.set_seq1(line.strip()[:_LONGEST_COMPARED])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = index, ratio
    return best
