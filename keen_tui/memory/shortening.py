"""Shortens the oldest tool results of an overflowing turn (turn.md rule 11). Pure."""

from __future__ import annotations

from collections.abc import Sequence

KEPT = 400
"""Characters kept of a shortened result: half from its beginning, half from its end."""

WORTHWHILE = 3 * KEPT
"""A result with fewer characters is left alone."""


def shorten_oldest(texts: Sequence[str]) -> list[str]:
    """The results, oldest first, with the oldest shortened until at least half of all text is gone.

    Shortened results stay short, so calling it again shortens the next ones. The list is returned unchanged
    if nothing is left to shorten.
    """
    to_free = sum(map(len, texts)) // 2
    shortened: list[str] = []
    for text in texts:
        short = _shortened(text) if to_free > 0 and len(text) > WORTHWHILE else text
        to_free -= len(text) - len(short)
        shortened.append(short)
    return shortened


def _shortened(text: str) -> str:
    half = KEPT // 2
    left_out = len(text) - KEPT
    note = f"[{left_out:,} characters left out to fit the context window; read again what you still need]"
    return f"{text[:half]}\n{note}\n{text[-half:]}"
