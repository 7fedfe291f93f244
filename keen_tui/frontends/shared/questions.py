"""What commands ask: values that each front end puts in its own way. An answer is its id, "" for none.

All that could lose work have their answers in one order: keep everything, retry, then what was asked for.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from keen_tui.domain.choices import Mode
from keen_tui.domain.permitted import Permitted
from keen_tui.memory.pending import PendingState

TAKE_BACK = "take back "
"""What the answer begins with that makes a command ask again; behind it stands the command."""


class DiscardQuestion(Struct, frozen=True):
    """Whether to give the incomplete turn up: "keep", "retry", "discard"."""

    pending: PendingState


class LeaveQuestion(Struct, frozen=True):
    """Whether to leave although a turn runs or an incomplete one waits: "keep", "retry", "leave". `durable`:
    its work outlives the program."""

    pending: PendingState | None
    running: bool
    durable: bool


class ReplaceQuestion(Struct, frozen=True):
    """Whether another session shall take the place of this one, whose incomplete turn that would end: "keep",
    "retry", "replace". `title` asks for it: "Begin a new session?". While a turn runs there is nothing to
    retry."""

    pending: PendingState
    title: str
    running: bool


class InUseQuestion(Struct, frozen=True):
    """What to do about a session that another program has open: "yes" forks it, "no"."""

    title: str


class PermissionsQuestion(Struct, frozen=True):
    """What runs unasked here, and what shall be taken back: `TAKE_BACK` and the command, or a mode."""

    mode: Mode
    permitted: Permitted


CommandQuestion: TypeAlias = (
    DiscardQuestion | LeaveQuestion | ReplaceQuestion | InUseQuestion | PermissionsQuestion
)
