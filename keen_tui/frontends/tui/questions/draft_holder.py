"""What a question needs of the composer."""

from __future__ import annotations

from typing import Protocol


class DraftHolder(Protocol):
    """The composer, as far as a question needs it."""

    @property
    def draft(self) -> tuple[str, int]:
        """What is written there, with labels for long pastes, and how many characters of it are before the
        cursor."""

    def put_draft(self, text: str, cursor: int) -> None:
        """Put this in place of what is written."""

    def go_on(self, text: str) -> None:
        """Write this at the cursor."""

    def keep(self, text: str) -> None:
        """Add this to the history."""

    def whole(self, text: str) -> str:
        """The text with the long pastes that labels in it stand for."""
