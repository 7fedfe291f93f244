"""Long texts in the composer: a label stands for each, and the text goes out in its place."""

from __future__ import annotations

import re
from typing import Final

from keen_tui.text.lines import line_count, pieces
from keen_tui.text.sanitize import clean

MOST_CHARACTERS: Final = 5_000
MOST_LINES: Final = 100
"""Text beyond that is folded: an editor takes long to break it into rows at every key."""


_OF_IMAGES: Final = "[image"


def is_long(text: str) -> bool:
    """Whether a label stands for the text where it is shown."""
    return len(text) > MOST_CHARACTERS or line_count(text) > MOST_LINES


class Pastes:
    """The texts that were folded, by their labels."""

    def __init__(self) -> None:
        self._folded: dict[str, str] = {}

    def fold_again(self, text: str) -> str:
        """A text that was sent: its labels instead of what they stand for, and a label for all of it if it is
        still long."""
        for label, paste in self._folded.items():
            text = text.replace(paste, label)
        return self.fold(text)

    def labelled(self, text: str) -> str:
        """A text that was sent, with the labels of the pastes in it; empty lines at its ends may be gone."""
        for label, paste in self._folded.items():
            if words := paste.strip():
                text = text.replace(words, label)
        return text

    def fold(self, text: str) -> str:
        """The text itself or, if that is long, a label for it."""
        if not is_long(text):
            return text
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return self.label("pasted", size, text)

    def label(self, kind: str, size: str, text: str) -> str:
        """A label for the text that says what it is and how large."""
        label, number = f"[{kind}: {size}]", 1
        while self._folded.get(label, text) != text:
            number += 1
            label = f"[{kind} {number}: {size}]"
        self._folded[label] = text
        return label

    def unfold(self, text: str) -> str:
        """The text with what its labels stand for; a label that was changed is text like any other."""
        labels = [label for label in self._folded if label in text]
        if not labels:
            return text
        any_label = re.compile("|".join(map(re.escape, labels)))
        return any_label.sub(lambda found: self._in_place(found, any_label), text)

    def _in_place(self, found: re.Match[str], any_label: re.Pattern[str]) -> str:
        """What a label stands for. A name stands apart from words, or it would be a part of them."""
        text, whole = self._folded[found[0]], found.string
        if not found[0].startswith(_OF_IMAGES):
            return text
        before, behind = (
            whole[max(found.start() - 1, 0) : found.start()],
            whole[found.end() : found.end() + 1],
        )
        is_behind_name = any_label.match(whole, found.end()) is not None
        left = " " if before.strip() else ""
        right = " " if behind.strip() and not is_behind_name else ""
        return f"{left}{text}{right}"

    def around(self, line: str, column: int) -> tuple[int, int]:
        """Where the label begins and ends that `column` is within; without one, twice the column."""
        for label in self._folded:
            start = line.find(label)
            while start >= 0:
                if start < column < start + len(label):
                    return start, start + len(label)
                start = line.find(label, start + 1)
        return column, column


def pasted(text: str) -> str:
    """What a terminal sends for a paste, as it is written: LF for every line end, nothing that acts. A long
    one takes a while: call it in a thread."""
    lines = text.replace("\r", "\n") if "\n" not in text else text
    return "".join(clean(piece, newlines=True, tabs=True) for piece in pieces(lines))
