"""A tool's question to the person, and how the answer becomes the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct, field

from keen_tui.domain.choices import Mode
from keen_tui.domain.events import AnswerChoice
from keen_tui.domain.messages import ToolResult


class QuestionReply(Struct, frozen=True, kw_only=True):
    """An answer: `choice` counts from 0, None declines; `words` go with it. `nobody`: there was no person to
    ask."""

    choice: int | None = None
    words: str = ""
    nobody: bool = False


class QuestionSpec(Struct, frozen=True, kw_only=True):
    """The question. `body` is Markdown to read first. `result` returns the call's result for an answer.

    `modes` maps answers, counted from 0, to the permission modes that they switch to. With `only_in` the
    question is asked in that mode only; in others the call gets the error `elsewhere`.
    """

    question: str
    choices: tuple[AnswerChoice, ...]
    result: Callable[[QuestionReply], ToolResult]
    body: str = ""
    modes: Mapping[int | None, Mode] = field(default_factory=dict)
    only_in: Mode | None = None
    elsewhere: str = ""


Person = Callable[[QuestionSpec], Awaitable[QuestionReply]]
"""Asks the user; the reply says so if there is nobody to ask."""
