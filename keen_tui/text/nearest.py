"""Known words: the one that somebody may have meant, and all of them in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def nearest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that are most similar to this one, the most similar first; there may be none."""
    from difflib import get_close_matches  # noqa: PLC0415 - not before the first paint

    return get_close_matches(word, list(known), n=most, cutoff=0.5)


def did_you_mean(word: str, known: Iterable[str], most: int = 1) -> str:
    """` Did you mean sessions?`; "" where no known word is similar."""
    found = nearest(word, known, most)
    return f" Did you mean {' or '.join(found)}?" if found else ""


def either(words: Sequence[str]) -> str:
    """`ask, plan or auto`."""
    *before, last = words
    return f"{', '.join(before)} or {last}" if before else last
