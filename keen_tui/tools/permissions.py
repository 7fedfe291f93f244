"""Whether a call runs, asks or is refused: the permission mode and what was allowed decide. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from keen_tui.choices import Mode
from keen_tui.plain import clean
from keen_tui.tools.base import Access
from keen_tui.tools.sensitive import holds_secrets, runs_code_later

Grant = tuple[str, str]
"""What "allow this kind for the session" allows: a kind of access, and where or what."""

_EDITS_HERE: Grant = ("write", "workspace")


class Verdict(Struct, frozen=True, kw_only=True):
    """What to do with a call; the texts are for the question, or for the model (`refusal`).

    `grant` says what "allow this kind" would allow, None where that is not offered.
    """

    decision: Literal["allow", "ask", "refuse"]
    question: str = ""
    why: str = ""
    grant: str | None = None
    grant_key: Grant | None = None
    refusal: str = ""


ALLOW = Verdict(decision="allow")
_PLAN_REFUSAL = Verdict(
    decision="refuse",
    refusal=(
        "Refused: plan mode is on, so only reading inside the workspace is possible. "
        "Say what you would do instead of doing it."
    ),
)


def judge(mode: Mode, access: Access, granted: Collection[Grant]) -> Verdict:
    """Judge an access under `mode`, given what the person allowed for this session."""
    if mode == "auto":
        return ALLOW
    if mode == "plan" and (access.kind != "read" or not access.inside):
        return _PLAN_REFUSAL
    special = _special(access)
    if special is None and access.inside:
        if access.reads_only:
            return ALLOW
        if access.kind == "read" or (access.kind == "write" and mode == "auto-edit"):
            return ALLOW
        question = _edit(access) if access.kind == "write" else _command(access)
    else:
        question = _path(access, special or "it is outside the workspace")
    return ALLOW if question.grant_key in granted else question


def _special(access: Access) -> str | None:
    """Why a path is asked about also where others of its kind are not."""
    if access.kind == "command":
        return None
    if holds_secrets(access.subject):
        return "it may hold keys or passwords, which the model's provider would get to see"
    if access.kind == "write" and runs_code_later(access.subject):
        return "what stands in it can run code later"
    return None


def _command(access: Access) -> Verdict:
    return Verdict(
        decision="ask",
        question="Run this command?",
        why=access.concern or "commands can change anything that you can",
        grant="this same command again, this session",
        grant_key=("command", access.subject),
    )


def _edit(access: Access) -> Verdict:
    return Verdict(
        decision="ask",
        question=_question(access),
        why="files are changed only when you say so",
        grant="every edit inside the workspace, this session",
        grant_key=_EDITS_HERE,
    )


def _path(access: Access, why: str) -> Verdict:
    return Verdict(
        decision="ask",
        question=_question(access),
        why=why,
        grant="this path, this session",
        grant_key=(access.kind, access.subject),
    )


def _question(access: Access) -> str:
    verb = "Read" if access.kind == "read" else "Create" if access.creates else "Change"
    return f"{verb} {clean(access.subject)}?"
