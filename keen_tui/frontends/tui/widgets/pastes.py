"""Long pastes in the composer: a label is shown for each, and the message contains its text."""

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
    """Whether the text is too long to be shown in the composer."""
    return len(text) > MOST_CHARACTERS or line_count(text) > MOST_LINES


class Pastes:
    """The long pastes, by their labels."""

    def __init__(self) -> None:
        self._folded: dict[str, str] = {}

    def fold_again(self, text: str) -> str:
        """Returns a text with labels in place of known pastes, and one label for all of it if it is still
        long."""
        for label, paste in self._folded.items():
            text = text.replace(paste, label)
        return self.fold(text)

    def labelled(self, text: str) -> str:
        """Returns a sent message with labels in place of its long pastes. Spaces and empty lines at the ends
        of a paste may be missing in the message."""
        for label, paste in self._folded.items():
            if words := paste.strip():
                text = text.replace(words, label)
        return text

    def fold(self, text: str) -> str:
        """Returns the text, or a new label for it if it is long."""
        if not is_long(text):
            return text
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return self.label("pasted", size, text)

    def label(self, kind: str, size: str, text: str) -> str:
        """Returns a label for the text, which says what it is and how large."""
        label, number = f"[{kind}: {size}]", 1
        while self._folded.get(label, text) != text:
            number += 1
            label = f"[{kind} {number}: {size}]"
        self._folded[label] = text
        return label

    def unfold(self, text: str) -> str:
        """Returns the text, each label replaced by its paste. A label that the user has edited stays as it
        is."""
        labels = [label for label in self._folded if label in text]
        if not labels:
            return text
        any_label = re.compile("|".join(map(re.escape, labels)))
        return any_label.sub(lambda found: self._in_place(found, any_label), text)

    def _in_place(self, found: re.Match[str], any_label: re.Pattern[str]) -> str:
        """Returns the text that a label stands for. The name of an image gets spaces around it, or it would
        merge with the words beside it."""
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
        """Returns the columns where the label around `column` begins and ends, or `column` twice if there is
        none."""
        for label in self._folded:
            start = line.find(label)
            while start >= 0:
                if start < column < start + len(label):
                    return start, start + len(label)
                start = line.find(label, start + 1)
        return column, column


def pasted(text: str) -> str:
    """Returns a paste as it is inserted: with LF for every line end, and without control characters. A long
    one takes a while, so call it in a thread."""
    lines = text.replace("\r", "\n") if "\n" not in text else text
    return "".join(clean(piece, newlines=True, tabs=True) for piece in pieces(lines))
