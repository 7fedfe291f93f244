"""The text that a key deleted and another key brings back, as in readline and Emacs."""

from __future__ import annotations

Written = tuple[str, object]
"""A text and the place of the cursor in it."""


class KilledText:
    """The newest killed text. Deletions that follow one another make one text."""

    def __init__(self) -> None:
        self.text = ""
        self._left: Written | None = None

    def add(self, killed: str, *, was: Written, left: Written, before: bool) -> None:
        """Take a deleted text.

        Args:
            was: what was written before the deletion.
            left: what is written after it.
            before: whether the deleted text was before the cursor.
        """
        if not killed:
            return
        if was != self._left:
            self.text = killed
        elif before:
            self.text = killed + self.text
        else:
            self.text += killed
        self._left = left
