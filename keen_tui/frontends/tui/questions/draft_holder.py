"""The part of the composer that a question uses."""

from __future__ import annotations

from typing import Protocol


class DraftHolder(Protocol):
    """The composer, as far as a question needs it."""

    @property
    def draft(self) -> tuple[str, int]:
        """The text of the composer, with labels for long pastes, and the number of characters before the
        cursor."""

    def put_draft(self, text: str, cursor: int) -> None:
        """Replace the text, and put the cursor after `cursor` characters."""

    def go_on(self, text: str) -> None:
        """Insert a text at the cursor."""

    def keep(self, text: str) -> None:
        """Add a text to the history."""

    def whole(self, text: str) -> str:
        """Returns the text, each label replaced by the long paste that it stands for."""
