"""The approvals and questions that a program gets while a turn runs, and its answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from keen_tui.domain.choices import Scope
from keen_tui.domain.display import CommandDisplay, DiffDisplay, Display
from keen_tui.domain.events import AnswerChoice, ApprovalRequested, QuestionAsked


class Approval(Struct, frozen=True, kw_only=True):
    """A tool call that waits for a yes or a no.

    `tool` is the name of the tool, `target` names what it acts on in a few words. `question` is the question
    as the screen shows it, `why` the reason for it. `command` is the shell command, "" for other tools;
    `diff` is the change of a file, line by line with `+`, `-` or a space in front, "" for none. `risks` are
    the parts of a command to read first, each with its reason; `is_risky`: a yes may lose something or reveal
    a secret. `grant` says what `Allow(scope="session")` would allow, `saves` what `Allow(scope="workspace")`
    would; None and () if any yes is for this call alone. `agent` is the name of the sub-agent that makes the
    call, "" for the session itself. `turn` is the number of the turn, `id` the id of the call.
    """

    tool: str
    target: str
    question: str
    why: str
    arguments: Mapping[str, Any]
    command: str = ""
    diff: str = ""
    risks: tuple[str, ...] = ()
    is_risky: bool = False
    grant: str | None = None
    saves: tuple[str, ...] = ()
    agent: str = ""
    turn: int = 0
    id: str = ""


class Allow(Struct, frozen=True, kw_only=True):
    """A yes: to this call (`once`), to calls of this kind in this session (`session`), or to these commands
    permanently in this folder (`workspace`)."""

    scope: Scope = "once"


class Deny(Struct, frozen=True):
    """A no. The model reads the message, the reason."""

    message: str = ""


class UserQuestion(Struct, frozen=True, kw_only=True):
    """A question from the model or from an MCP server. `choices` are the answers to choose from, `body` is
    Markdown that the question is about, such as a plan. `tool` is the name of the tool that asks, `agent` the
    sub-agent, "" for the session itself; `turn` is the number of the turn, `id` the id of the call."""

    question: str
    choices: tuple[AnswerChoice, ...]
    body: str = ""
    tool: str = ""
    agent: str = ""
    turn: int = 0
    id: str = ""


class UserAnswer(Struct, frozen=True):
    """An answer. `choice` is the number of the choice, from 0; `words` is text that goes with it, which a
    choice with `wants_words` needs."""

    choice: int
    words: str = ""


Approve: TypeAlias = Callable[[Approval], Allow | Deny | Awaitable[Allow | Deny]]
"""Decides about a call. A plain function, which runs in a thread, or a coroutine function."""

AnswerQuestion: TypeAlias = Callable[[UserQuestion], UserAnswer | Awaitable[UserAnswer | None] | None]
"""Answers a question; None declines. A plain function, which runs in a thread, or a coroutine function."""


def approval_of(event: ApprovalRequested) -> Approval:
    """The approval for an event."""
    shown = event.display
    return Approval(
        tool=event.name,
        target=event.target,
        question=event.question,
        why=event.why,
        arguments=event.arguments,
        command=shown.command if isinstance(shown, CommandDisplay) else "",
        diff="\n".join(_diff_lines(shown)),
        risks=tuple(_risks(shown)),
        is_risky=event.is_risky,
        grant=event.grant,
        saves=event.saves,
        agent=event.agent,
        turn=event.turn,
        id=event.id,
    )


def question_of_event(event: QuestionAsked) -> UserQuestion:
    """The question for an event."""
    return UserQuestion(
        question=event.question,
        choices=event.choices,
        body=event.body,
        tool=event.name,
        agent=event.agent,
        turn=event.turn,
        id=event.id,
    )


def _diff_lines(shown: Display | None) -> Iterator[str]:
    if not isinstance(shown, DiffDisplay):
        return
    for number, hunk in enumerate(shown.hunks):
        if number:
            yield "..."
        yield from (f"{line.sign}{line.text}" for line in hunk)
    if shown.left_out:
        yield f"... {shown.left_out} more lines"


def _risks(shown: Display | None) -> Iterator[str]:
    if isinstance(shown, CommandDisplay):
        yield from (f"{part.text}: {part.note}" for part in shown.parts if part.is_risky)
