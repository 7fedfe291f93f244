"""What the session's newest answered request was built from."""

from __future__ import annotations

from msgspec import Struct

from keen_tui.domain.models import Identity
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import PendingTrace


class NewestRequest(Struct):
    """Changed by every step of a turn that is answered whole. `identity` is that of the provider, None before
    the first answer. Summaries and titles don't count: they are asked for outside the conversation."""

    past: Past = Past()
    traces: tuple[PendingTrace, ...] = ()
    identity: Identity | None = None

    def note(self, past: Past, traces: tuple[PendingTrace, ...], identity: Identity) -> None:
        """A request made of these was answered."""
        self.past, self.traces, self.identity = past, traces, identity
