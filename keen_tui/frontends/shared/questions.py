"""The questions of commands, as values that each front end puts in its own way. An answer is its id, "" for
none.

Questions that could lose work have their answers in one order: keep everything, retry, then what was asked
for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from keen_tui.domain.choices import Mode, PolicyName
    from keen_tui.domain.permitted import Permitted
    from keen_tui.domain.reports import Changes
    from keen_tui.frontends.shared.changes import ShownFile
    from keen_tui.memory.pending import PendingState

TAKE_BACK = "take back "
"""The beginning of the answer that revokes a permission; the command follows it."""


class DiscardQuestion(Struct, frozen=True):
    """Whether to discard the incomplete turn: "keep", "retry", "discard"."""

    pending: PendingState


class LeaveQuestion(Struct, frozen=True):
    """Whether to leave although a turn runs or an incomplete one is pending: "keep", "retry", "leave".
    `durable`: its work outlives the program."""

    pending: PendingState | None
    running: bool
    durable: bool

    @property
    def why(self) -> str:
        """What becomes of the work, in sentences."""
        if self.running:
            return "A turn is running. Leaving stops it; the files keep its changes."
        fate = (
            "It is saved on disk, so you can retry it when you resume the session."
            if self.durable
            else "It is only in memory, so it can't be resumed once you leave."
        )
        return f"{fate} The files keep their changes."

    @property
    def consequence(self) -> str:
        """What leaving means, beside its answer."""
        if self.running:
            return "the turn can be retried later" if self.durable else "the turn can't be resumed later"
        return "the incomplete turn is kept" if self.durable else "the incomplete turn is lost"


class ReplaceQuestion(Struct, frozen=True):
    """Whether another session should replace this one, which would end its incomplete turn: "keep", "retry",
    "replace". `title` asks for it: "Begin a new session?". While a turn runs there is nothing to retry."""

    pending: PendingState
    title: str
    running: bool


class SwitchQuestion(Struct, frozen=True):
    """Whether to switch to a model that can't continue the incomplete turn: "keep", "retry", "switch"."""

    pending: PendingState
    model: str


class InUseQuestion(Struct, frozen=True):
    """What to do if another program has the session open: "yes" forks it, or "no"."""

    title: str


class PermissionsQuestion(Struct, frozen=True):
    """What runs without asking here, and what to revoke: `TAKE_BACK` and the command, or a mode."""

    mode: Mode
    permitted: Permitted


class MemoryQuestion(Struct, frozen=True):
    """Which memory policy to use, where `policy` is in use: a policy, or "edit" for the page where memory is
    edited."""

    policy: PolicyName


class UndoQuestion(Struct, frozen=True):
    """Whether to undo these changes: "yes", "no". There may be no file that can be restored."""

    changes: Changes
    files: Sequence[ShownFile]

    @property
    def can_undo(self) -> bool:
        """Whether a file can be restored."""
        return any(not file.unkept for file in self.files)


ShortQuestion: TypeAlias = (
    DiscardQuestion
    | LeaveQuestion
    | ReplaceQuestion
    | SwitchQuestion
    | InUseQuestion
    | PermissionsQuestion
    | MemoryQuestion
)
"""Questions that fit below the conversation."""

CommandQuestion: TypeAlias = ShortQuestion | UndoQuestion
