"""Questions in sentences, with numbered answers."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.events import ApprovalRequested, QuestionAsked
from keen_tui.frontends.line.questions import CANCEL, LineQuestion
from keen_tui.frontends.line.streaming import read_out
from keen_tui.frontends.shared.lines.displays import display_lines
from keen_tui.frontends.shared.lines.question_lines import permission_choices, permission_lines, undo_lines
from keen_tui.frontends.shared.questions import (
    Choice,
    CommandQuestion,
    MemoryQuestion,
    PermissionsQuestion,
    UndoQuestion,
    approval_choices,
    approval_reason,
    asked_choices,
    is_risky,
)
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import asker_and, tool_label

_DECLINE = Choice(id="decline", label="decline to answer")


def approval_question(event: ApprovalRequested) -> LineQuestion:
    """Whether this call may run."""
    choices = (_told(choice, number) for number, choice in enumerate(approval_choices(event, "; "), 1))
    return LineQuestion(
        lines=tuple(_approval_lines(event)), choices=tuple(choices), numbers_only=is_risky(event)
    )


def _told(choice: Choice, number: int) -> Choice:
    if choice.id == "no":
        return replace(choice, label=f"no (write {number}: and your words to say why)")
    if choice.id == "save":
        return replace(choice, label=f"{choice.label}: {choice.consequence}", consequence="")
    return choice


def _approval_lines(event: ApprovalRequested) -> Iterator[str]:
    yield f"Question: {asker_and(event.agent, event.question)}"
    if event.display is None:
        yield f"Tool {tool_label(event.name)}: {revealed(event.target)}"
    else:
        yield from display_lines(event.display)
    if isinstance(event.display, CommandDisplay):
        for part in event.display.parts:
            if part.is_risky:
                yield f"Look here: {revealed(part.text)}: {revealed(part.note)}."
    if event.why:
        yield approval_reason(event)


def asked_question(event: QuestionAsked) -> LineQuestion:
    """Returns the model's question. The ids of its answers are their numbers from 0."""
    lines = (*read_out(event.body), *f"Question: {asker_and(event.agent, event.question)}".split("\n"))
    return LineQuestion(lines=lines, choices=(*asked_choices(event), _DECLINE))


def question_of(asked: CommandQuestion) -> LineQuestion:
    """The question of a command, in sentences."""
    title = f"Question: {asked.title}"
    match asked:
        case PermissionsQuestion():
            return _permissions_question(asked)
        case MemoryQuestion():
            choices = tuple(_named_policy(each, is_used=each.id == asked.policy) for each in asked.choices)
            return LineQuestion(lines=(title,), choices=(*choices, CANCEL))
        case UndoQuestion():
            return LineQuestion(lines=(title, *undo_lines(asked)), choices=asked.choices)
        case _:
            return LineQuestion(lines=(title, *asked.body), choices=asked.choices)


def _named_policy(choice: Choice, *, is_used: bool) -> Choice:
    return replace(choice, label=f"{choice.label} (in use)") if is_used else choice


def _permissions_question(asked: PermissionsQuestion) -> LineQuestion:
    """Returns the question about permissions: it shows what runs without asking; the answers change the mode,
    or make a command ask again."""
    return LineQuestion(lines=permission_lines(asked), choices=(*permission_choices(asked), CANCEL))
