"""Which words of a changed line are others than before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby, pairwise, takewhile
from typing import Final, NamedTuple

from keen_tui.frontends.tui.markdown.code import CharacterRange

_ALIKE: Final = 2 / 3
"""The share of equal characters, or of equal words, from which on a line counts as the same one, changed."""

_MOST_PAIRS: Final = 256
"""Removed times added lines of a change up to which it is found out what became what."""

_LONGEST: Final = 1_200
"""Characters of a line whose words are compared."""

_MOST_COMPARED: Final = 10_000
"""Old times new words that are compared one by one; where more differ, all of them count as changed."""

_MOST_WORK: Final = 10 * _MOST_COMPARED
"""The same for all lines of a change together."""

_WORDS: Final = re.compile(r"(?:\w|[^\x00-\x7f\s])+|\s+|[^\w\s]")
"""Words, blanks, and signs one by one; only signs of ASCII, for others may belong to what stands before."""


class ChangedWords:
    """The changed words of a hunk's rows, found when a row beside them is seen for the first time."""

    def __init__(self, signs: Sequence[str], texts: Sequence[str]) -> None:
        """`signs` are those of the rows: `-`, `+` or a blank."""
        self._texts = texts
        self._changes = dict(_changes(signs))
        self._found: dict[int, tuple[CharacterRange, ...]] = {}

    def __getitem__(self, row: int) -> tuple[CharacterRange, ...]:
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
        lines = {row: _WordLine.of(self._texts[row]) for row in (*removed, *added)}
        work, following = _MOST_WORK, added.start
        is_only = len(removed) == len(added) == 1
        for row in removed:
            for other in range(following, added.stop):
                old, new = lines[row], lines[other]
                has_one_other = is_only and old.has_one_other(new)
                if work < 0 or not (has_one_other or old.likeness(new) >= _ALIKE):
                    continue
                compared = _compared(old, new)
                work -= compared.work
                if has_one_other or compared.alike >= _ALIKE:
                    self._found[row], self._found[other] = compared.old, compared.new
                    following = other + 1
                    break


class _WordLine(NamedTuple):
    """A line as words. `counts` and `size` leave blanks out."""

    text: str
    words: Sequence[str]
    counts: Counter[str]
    size: _Size

    @classmethod
    def of(cls, text: str) -> _WordLine:
        words = _WORDS.findall(text) if len(text) <= _LONGEST else []
        counts = Counter(word for word in words if word.strip())
        return cls(text, words, counts, _size(counts))

    def likeness(self, other: _WordLine) -> float:
        """The share that both have, were their words in one order: at least what it is."""
        return self.size.share(other.size, _size(self.counts & other.counts))

    def has_one_other(self, other: _WordLine) -> bool:
        """Whether one word has become another one, and another word is in both."""
        shared = self.counts & other.counts
        is_one = self.size.words == other.size.words == shared.total() + 1
        return is_one and any(map(str.isidentifier, shared))


class _Size(NamedTuple):
    """How many characters and how many words there are; blanks are none."""

    characters: int
    words: int

    def share(self, other: _Size, shared: _Size) -> float:
        """The share of two lines that is in both: of their characters or, if that is more, of their words."""
        return max(2 * part / max(one + two, 1) for one, two, part in zip(self, other, shared, strict=True))


def _size(counts: Counter[str]) -> _Size:
    return _Size(sum(len(word) * count for word, count in counts.items()), counts.total())


class _Comparison(NamedTuple):
    """The parts that differ between two lines, the share that doesn't, and how much work the comparison
    was."""

    old: tuple[CharacterRange, ...]
    new: tuple[CharacterRange, ...]
    alike: float
    work: int


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


def _compared(old: _WordLine, new: _WordLine) -> _Comparison:
    head = _shared(old.words, new.words)
    tail = _shared(old.words[head:][::-1], new.words[head:][::-1])
    old_end, new_end = len(old.words) - tail, len(new.words) - tail
    work = (old_end - head) * (new_end - head)
    changed = [(head, old_end, head, new_end)]
    if work <= _MOST_COMPARED:
        matcher = SequenceMatcher(None, old.words[head:old_end], new.words[head:new_end], autojunk=False)
        changed = [
            (old_from + head, old_to + head, new_from + head, new_to + head)
            for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes()
            if tag != "equal"
        ]
    old_spans = _spans(old, [(start, end) for start, end, _, _ in changed])
    new_spans = _spans(new, [(start, end) for _, _, start, end in changed])
    same = Counter(old.words)
    for start, end, _, _ in changed:
        same -= Counter(old.words[start:end])
    same = Counter({word: count for word, count in same.items() if word.strip()})
    return _Comparison(old_spans, new_spans, old.size.share(new.size, _size(same)), work)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words are the same from the beginning on."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _spans(line: _WordLine, runs: Sequence[CharacterRange]) -> tuple[CharacterRange, ...]:
    """Where runs of words stand; two with nothing but blanks between them are one."""
    ends = [0, *accumulate(map(len, line.words))]
    spans: list[CharacterRange] = []
    for first, last in runs:
        start, end = ends[first], ends[last]
        if start == end:
            continue
        if spans and not line.text[spans[-1][1] : start].strip():
            start = spans.pop()[0]
        spans.append((start, end))
    return tuple(spans)
