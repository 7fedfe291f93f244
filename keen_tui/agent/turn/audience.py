"""Who can be asked during a turn, and the answer to an approval."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from keen_tui.domain.choices import Scope


class Audience(Struct, frozen=True, kw_only=True):
    """Who can be asked during a turn. `approves`: somebody answers approvals, otherwise what would ask is
    denied; `answers`: somebody answers questions. `is_person`: a person watches the session. `nobody` is why
    such a call is denied, "" for the flag of the command line that allows it."""

    approves: bool = False
    answers: bool = False
    is_person: bool = False
    nobody: str = ""


PERSON: Final = Audience(approves=True, answers=True, is_person=True)
NO_AUDIENCE: Final = Audience()


class ApprovalReply(Struct, frozen=True, kw_only=True):
    """Yes or no, how far a yes reaches, and the reason of a no."""

    allowed: bool
    scope: Scope
    message: str
    by: Literal["user", "headless"]
