"""Words that are looked for, in the open session and in saved ones, by the same rules."""

from __future__ import annotations

import re


class Needle:
    """Words to look for in texts.

    Small letters stand for capitals too; with one capital among them all letters count as they are. Blanks
    between words stand for any blanks, line ends included.
    """

    __slots__ = ("_longest", "exact", "pattern", "words")

    def __init__(self, text: str) -> None:
        self.words = tuple(text.split())
        self.exact = any(character != character.lower() for character in text)
        """Whether capitals and small letters are told apart."""
        self.pattern = re.compile(r"\s+".join(map(re.escape, self.words)), 0 if self.exact else re.IGNORECASE)
        self._longest = max(self.words, key=len, default="")

    def __bool__(self) -> bool:
        """False when there is nothing to look for."""
        return bool(self.words)

    def narrows(self, other: Needle) -> bool:
        """Whether every text that holds these words holds those of `other` too."""
        return bool(other) and " ".join(self.words).startswith(" ".join(other.words))

    def count(self, text: str) -> int:
        """How often the words stand in `text`. Most texts are told to lack them at the speed of a scan."""
        if not self.words:
            return 0
        cased = text if self.exact else text.lower()
        if len(self.words) == 1:
            return cased.count(self._longest)
        return sum(1 for _ in self.pattern.finditer(text)) if self._longest in cased else 0
