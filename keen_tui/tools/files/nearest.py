"""Finds the lines of a file that are most similar to a text that isn't in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from keen_tui.text.lines import cut, lines_of

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
