"""Which words of a changed line are others than before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby, pairwise
from typing import Final, NamedTuple

from keen_tui.ui.transcript.code import Span

_MOST_PAIRS: Final = 256
"""Removed times added lines that are compared to find out what became what."""

_LONGEST: Final = 1_200
"""Characters of a line whose words are compared."""

_ALIKE: Final = 2 / 3
"""The share of equal characters from which on a line counts as the same one, changed."""

_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")


class _Comparison(NamedTuple):
    """What differs between two lines, and which share of them does not."""

    old: tuple[Span, ...]
    new: tuple[Span, ...]
    alike: float


class ChangedWords:
    """The changed words of a hunk's rows, found when a row beside them is seen for the first time."""

    def __init__(self, signs: Sequence[str], texts: Sequence[str]) -> None:
        """`signs` are those of the rows: `-`, `+` or a blank."""
        self._texts = texts
        self._changes = dict(_changes(signs))
        self._found: dict[int, tuple[Span, ...]] = {}

    def __getitem__(self, row: int) -> tuple[Span, ...]:
        """Where a row has other words than the one it came from or became; nothing where all is new."""
        change = self._changes.get(row)
        if change is not None and row not in self._found:
            self._compare(*change)
        return self._found.get(row, ())

    def _compare(self, removed: range, added: range) -> None:
        """Find for each removed row the first added one that is much like it, none of them twice."""
        self._found.update(dict.fromkeys((*removed, *added), ()))
        if len(removed) * len(added) > _MOST_PAIRS:
            return
        following = added.start
        for row in removed:
            for other in range(following, added.stop):
                compared = _compared(self._texts[row], self._texts[other])
                if compared.alike >= _ALIKE:
                    self._found[row], self._found[other] = compared.old, compared.new
                    following = other + 1
                    break


def _changes(signs: Sequence[str]) -> Iterator[tuple[int, tuple[range, range]]]:
    """For each row of a change in place: the removed rows of that change, and the added ones behind them."""
    runs: list[tuple[str, range]] = []
    start = 0
    for sign, rows in groupby(signs):
        end = start + sum(1 for _ in rows)
        runs.append((sign, range(start, end)))
        start = end
    for (sign, removed), (next_sign, added) in pairwise(runs):
        if (sign, next_sign) == ("-", "+"):
            for row in (*removed, *added):
                yield row, (removed, added)


def _compared(old: str, new: str) -> _Comparison:
    if max(len(old), len(new)) > _LONGEST:
        return _Comparison((), (), 0)
    old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    changed = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    old_spans = _spans(old, old_words, [(start, end) for _, start, end, _, _ in changed])
    new_spans = _spans(new, new_words, [(start, end) for _, _, _, start, end in changed])
    other = _written(old, old_spans) + _written(new, new_spans)
    written = _written(old, [(0, len(old))]) + _written(new, [(0, len(new))])
    return _Comparison(old_spans, new_spans, 1 - other / max(written, 1))


def _written(text: str, spans: Sequence[Span]) -> int:
    """How many characters of the `spans` are no blanks."""
    return sum(len(text[start:end].replace(" ", "")) for start, end in spans)


def _spans(text: str, words: Sequence[str], runs: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Where runs of words stand; two with nothing but blanks between them are one."""
    ends = [0, *accumulate(map(len, words))]
    spans: list[Span] = []
    for first, last in runs:
        start, end = ends[first], ends[last]
        if start == end:
            continue
        if spans and not text[spans[-1][1] : start].strip():
            start = spans.pop()[0]
        spans.append((start, end))
    return tuple(spans)
