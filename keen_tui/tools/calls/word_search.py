"""Finds the things whose names and descriptions fit the words of a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

MOST_FOUND: Final = 8
"""One search returns at most this many."""

_SMALL: Final = frozenset(("a", "an", "and", "for", "in", "of", "on", "or", "the", "this", "to", "with"))
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"[\w-]+")

Thing = TypeVar("Thing")


def best(query: str, things: Iterable[Thing], described: Callable[[Thing], tuple[str, str]]) -> list[Thing]:
    """The things that fit the query best, best first, at most MOST_FOUND. `described` returns the name, which
    no two share, and the description. The same words find the same things."""
    named = set(_NAME.findall(query.lower()))
    words = set(_WORD.findall(query.lower())) - _SMALL
    known = [(*described(each), each) for each in things]
    scored = [(_score(name.lower(), text.lower(), words, named), name, each) for name, text, each in known]
    fitting = sorted((each for each in scored if each[0]), key=lambda each: (-each[0], each[1]))
    return [each for _, _, each in fitting[:MOST_FOUND]]


def _score(name: str, text: str, words: set[str], named: set[str]) -> int:
    if name in named:
        return 1_000
    of_name, of_text = set(_WORD.findall(name)), set(_WORD.findall(text))
    parts = sum(any(len(word) > 3 and word in part for part in of_name) for word in words - of_name)
    alike = sum(any(_is_alike(word, other) for other in of_text) for word in words - of_text)
    return 10 * len(words & of_name) + 4 * parts + 2 * len(words & of_text) + alike


def _is_alike(word: str, other: str) -> bool:
    """Whether one begins with the other, as `form` and `forms` do."""
    return min(len(word), len(other)) > 3 and (word.startswith(other) or other.startswith(word))
