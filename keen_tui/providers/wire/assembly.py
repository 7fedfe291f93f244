"""The base of every API's assembly of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keen_tui.domain.messages import StepReply
from keen_tui.providers.wire.provider import StreamedPart
from keen_tui.providers.wire.sse import ServerSentEvent


class Assembly(Protocol):
    """Builds one reply from its events. Pure: no network, no clock."""

    @property
    def complete(self) -> bool:
        """Whether the reply is whole (turn.md, "When a reply is complete")."""

    @property
    def ended(self) -> bool:
        """Whether the server said that the reply ends here: only counts may follow. A complete reply that
        hasn't ended may still continue."""

    @property
    def closed(self) -> bool:
        """Whether the last event has arrived: nothing after it belongs to the reply."""

    def take(self, event: ServerSentEvent) -> Sequence[StreamedPart]:
        """Take an event and return the text, reasoning and searches that it adds.

        Raises:
            ProviderError: the event is an error, or can't be read, and the reply is not complete.
        """

    def finish(self) -> StepReply:
        """The complete reply. Raises ProviderError if it isn't complete."""
