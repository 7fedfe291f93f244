"""What a tool asks a person, and how the answer becomes its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from keen_tui.domain.choices import Mode
from keen_tui.domain.events import AnswerChoice
from keen_tui.domain.messages import ToolResult


class QuestionReply(Struct, frozen=True, kw_only=True):
    """An answer: the `choice` counts from 0, None declines; `words` came with it. `nobody`: there was nobody
    to ask."""

    choice: int | None = None
    words: str = ""
    nobody: bool = False


class QuestionSpec(Struct, frozen=True, kw_only=True):
    """What is asked. `body` is Markdown that it is about. `result` says what the call came to with an answer.

    `modes` are the permission modes that answers, counted from 0, switch to. With `only_in` it is asked in
    that mode alone; in others the call gets `elsewhere` as its error.
    """

    question: str
    choices: tuple[AnswerChoice, ...]
    result: Callable[[QuestionReply], ToolResult]
    body: str = ""
    modes: Mapping[int | None, Mode] = field(default_factory=dict)
    only_in: Mode | None = None
    elsewhere: str = ""
