"""The size of requests in bytes, and in tokens as far as the provider has reported those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from keen_tui.agent.turn.request import step_request
from keen_tui.domain.spent import BYTES_PER_TOKEN
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.providers.wire.images import ImageSize, image_sizes

if TYPE_CHECKING:
    from keen_tui.agent.turn.turn_setup import TurnSetup
    from keen_tui.domain.events import Usage
    from keen_tui.memory.conversation import Past
    from keen_tui.memory.pending import PendingTrace


class Measured(Struct, frozen=True):
    """The size of a request, or of a part of one: its bytes, and which of them are images."""

    bytes: int
    images: Sequence[ImageSize] = ()

    def tokens(self, bytes_per_token: float) -> int:
        """The estimated number of tokens: text by its bytes, images by their pixels."""
        of_text = self.bytes - sum(image.bytes for image in self.images)
        return round(of_text / bytes_per_token) + sum(image.tokens for image in self.images)


class RequestSize:
    """Estimates the tokens of requests from the usage that the provider reports."""

    def __init__(self) -> None:
        self.bytes_per_token = BYTES_PER_TOKEN
        self._expected: Measured | None = None

    def expect(self, measured: Measured) -> None:
        """Set the size of the next request."""
        self._expected = measured

    def note(self, usage: Usage) -> None:
        """Learn from the first step of a turn, whose request was measured."""
        tokens = usage.tokens.input_tokens
        if usage.step == 1 and tokens and self._expected:
            of_text = self._expected.bytes - sum(image.bytes for image in self._expected.images)
            weighed = of_text + sum(image.tokens for image in self._expected.images) * self.bytes_per_token
            self.bytes_per_token = min(max(weighed / tokens, 1.0), 8.0)
            self._expected = None

    def tokens(self, measured: Measured) -> int:
        """The estimated number of tokens."""
        return measured.tokens(self.bytes_per_token)


def measured_request(
    past: Past, traces: Iterable[PendingTrace], policy: MemoryPolicy, setup: TurnSetup
) -> Measured:
    """The size of a turn's first request. Blocks: it takes a while in a long session."""
    request = step_request(past, traces, policy, setup, setup.toolbox.specs, setup.projector)
    images = image_sizes(request.parts, are_sent=setup.provider.takes_images)
    return Measured(len(setup.provider.encoded(request)), tuple(images))
