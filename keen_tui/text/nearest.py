"""Known words: the one that somebody may have meant, and all of them in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_BETWEEN: Final = re.compile(r"[-_:./ ]+")
_LETTERS_PER_MISTAKE: Final = 3
_SHORTEST_PART: Final = 3
"""The fewest letters of a part that counts on its own."""


def nearest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that this one may be meant as, the most similar first; there may be none.

    A word is similar if at most every third letter is wrong, if it is the beginning of the other, or if they
    share a part between dashes. Dashes and slashes themselves don't count.
    """
    scored = [(_difference(word.casefold(), each.casefold()), each) for each in known]
    near = sorted((score for score in scored if score[0] is not None), key=lambda score: score[0] or (0, 0))
    return [each for _, each in near[:most]]


def misspelt(word: str, known: Iterable[str]) -> list[str]:
    """The known words that this one is a misspelling of, in their order; none if it is one of them."""
    return [each for each in known if 0 < _wrong_letters(word, each) <= len(word) // _LETTERS_PER_MISTAKE]


def _difference(word: str, known: str) -> tuple[int, int] | None:
    """How different the words are: wrong letters, then how far their lengths differ; None for too much."""
    parts, known_parts = ([part for part in _BETWEEN.split(each) if part] for each in (word, known))
    whole, known_whole = "".join(parts), "".join(known_parts)
    longer = abs(len(whole) - len(known_whole))
    wrong = min(_wrong_letters(whole, each) for each in (known_whole, *_long(known_parts)))
    if wrong <= len(whole) // _LETTERS_PER_MISTAKE:
        return wrong, longer
    if len(whole) > 1 and known_whole.startswith(whole):
        return 1, longer
    return (2, longer) if set(_long(parts)) & {known_whole, *known_parts} else None


def _long(parts: Sequence[str]) -> list[str]:
    return [part for part in parts if len(part) >= _SHORTEST_PART]


def _wrong_letters(word: str, known: str) -> int:
    """How many letters are wrong, missing, too many, or swapped with the next one."""
    before, row = [0], list(range(len(known) + 1))
    for i, letter in enumerate(word, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(known, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and word[i - 2 : i] == known[j - 1] + known[j - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def did_you_mean(word: str, known: Iterable[str], most: int = 1) -> str:
    """` Did you mean sessions?`; "" where no known word is similar."""
    found = nearest(word, known, most)
    return f" Did you mean {either(found)}?" if found else ""


def either(words: Sequence[str]) -> str:
    """`ask, plan or auto`."""
    *before, last = words
    return f"{', '.join(before)} or {last}" if before else last
