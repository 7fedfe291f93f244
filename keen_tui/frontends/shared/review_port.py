"""Reviews of changes, as a front end sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from keen_tui.domain.review import ReviewReport, ReviewWish


class ReviewsPort(Protocol):
    """One review at a time, in a session of its own."""

    @property
    def newest(self) -> ReviewReport | None:
        """How the newest review stands; None before the first."""

    @property
    def running(self) -> bool:
        """Whether a review runs."""

    async def begin(self, wish: ReviewWish) -> None:
        """Begin a review. Raises KeenError: one runs, or there are no such changes."""

    async def ended(self) -> None:
        """Wait until no review runs."""

    def stop(self) -> None:
        """Stop the review. No effect if none runs."""
