"""A person's answer to an approval."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from keen_tui.domain.choices import Scope


class ApprovalReply(Struct, frozen=True, kw_only=True):
    """Yes or no, how far a yes reaches, and the reason of a no."""

    allowed: bool
    scope: Scope
    message: str
    by: Literal["user", "headless"]
