"""Whether a call runs, asks or is refused: the permission mode and what was allowed decide. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from keen_tui.events import Mode
from keen_tui.tools.base import Access

Grant = tuple[str, str]
"""What "allow this kind for the session" allows: a kind of access, and where or what."""

_EDITS_HERE: Grant = ("write", "workspace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to do with a call; the texts are for the question, or for the model (`refusal`)."""

    decision: Literal["allow", "ask", "refuse"]
    question: str = ""
    why: str = ""
    grant: str | None = None
    grant_key: Grant | None = None
    refusal: str = ""


ALLOW = Verdict(decision="allow")


def judge(mode: Mode, access: Access, granted: Collection[Grant]) -> Verdict:
    """Judge an access under `mode`, given what the person allowed for this session."""
    if mode == "auto" or (access.kind == "read" and access.inside):
        return ALLOW
    if mode == "plan":
        return Verdict(
            decision="refuse",
            refusal=(
                "Refused: plan mode is on, so only reading inside the workspace is possible. "
                "Say what you would do instead of doing it."
            ),
        )
    if mode == "auto-edit" and access.kind == "write" and access.inside:
        return ALLOW
    question = _question(access)
    return ALLOW if question.grant_key in granted else question


def _question(access: Access) -> Verdict:
    match access.kind:
        case "command":
            return Verdict(
                decision="ask",
                question="Run this command?",
                why="commands can change anything that you can",
                grant="this same command again, this session",
                grant_key=("command", access.subject),
            )
        case "write" if access.inside:
            return Verdict(
                decision="ask",
                question=f"{'Create' if access.creates else 'Change'} {access.subject}?",
                why="files are changed only when you say so",
                grant="every edit inside the workspace, this session",
                grant_key=_EDITS_HERE,
            )
        case _:
            verb = "Read" if access.kind == "read" else "Create" if access.creates else "Change"
            return Verdict(
                decision="ask",
                question=f"{verb} {access.subject}?",
                why="it is outside the workspace",
                grant="this path, this session",
                grant_key=(access.kind, access.subject),
            )
