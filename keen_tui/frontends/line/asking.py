"""What the session asks a person, and what is asked before work is given up, as questions in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never, get_args

from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.events import ApprovalRequested, QuestionAsked
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.line.displays import display_lines, not_covered
from keen_tui.frontends.line.questions import LineChoice, LineQuestion
from keen_tui.frontends.line.sentences import kept_words
from keen_tui.frontends.line.streaming import read_out
from keen_tui.frontends.shared.questions import (
    TAKE_BACK,
    CommandQuestion,
    DiscardQuestion,
    InUseQuestion,
    LeaveQuestion,
    MemoryQuestion,
    PermissionsQuestion,
    ReplaceQuestion,
    SwitchQuestion,
    UndoQuestion,
)
from keen_tui.memory.pending import PendingState
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import CARRIED, MODES, tool_label
from keen_tui.text.sanitize import clean

SCOPES: Mapping[str, Scope] = {"yes": "once", "grant": "session", "save": "workspace"}
"""The answers that allow a call, and how far they go."""

STAY = LineChoice(id="stay", label="stay")
KEEP = LineChoice(id="keep", label="no, keep everything as it is")
RETRY = LineChoice(id="retry", label="no, retry it first", consequence="it continues from the last result")


def approval_question(event: ApprovalRequested) -> LineQuestion:
    """Whether this call may run."""
    choices = [LineChoice(id="yes", label="yes, this once")]
    if event.grant:
        choices.append(LineChoice(id="grant", label=f"yes, and {clean(event.grant)}"))
    if event.saves:
        saved = "; ".join(map(revealed, event.saves))
        choices.append(LineChoice(id="save", label=f"yes, always in this folder: {saved}"))
    no = f"no (write {len(choices) + 1}: and your words to say why)"
    choices.append(LineChoice(id="no", label=no, takes_words=True))
    choices.append(
        LineChoice(id="stop", label="no, and stop the turn", consequence="finished calls are kept")
    )
    return LineQuestion(
        lines=tuple(_approval_lines(event)), choices=tuple(choices), numbers_only=event.is_risky
    )


def _approval_lines(event: ApprovalRequested) -> Iterator[str]:
    yield f"Question: {event.question}"
    if event.display is None:
        yield f"Tool {tool_label(event.name)}: {revealed(event.target)}"
    else:
        yield from display_lines(event.display)
    if isinstance(event.display, CommandDisplay):
        for part in event.display.parts:
            if part.is_risky:
                yield f"Look here: {revealed(part.text)}: {revealed(part.note)}."
    if event.why:
        yield f"Asks because {revealed(event.why)}."


def asked_question(event: QuestionAsked) -> LineQuestion:
    """What the model wants to know. The answers are named by their numbers from 0."""
    choices = (
        LineChoice(
            id=str(number),
            label=clean(choice.label),
            consequence=clean(choice.consequence),
            needs_words=choice.wants_words,
        )
        for number, choice in enumerate(event.choices)
    )
    lines = (*read_out(event.body), *f"Question: {event.question}".split("\n"))
    return LineQuestion(lines=lines, choices=(*choices, LineChoice(id="decline", label="decline to answer")))


def discard_question(pending: PendingState) -> LineQuestion:
    """Whether the incomplete turn shall be given up."""
    return LineQuestion(
        lines=(
            "Question: Discard the incomplete turn?",
            kept_words(pending),
            "The files keep their changes; later turns are told which ones.",
        ),
        choices=(
            KEEP,
            RETRY,
            LineChoice(id="discard", label="yes, discard it", consequence="its calls can't be resumed"),
        ),
    )


def leave_question(asked: LeaveQuestion) -> LineQuestion:
    """Whether to leave although a turn runs or an incomplete one waits."""
    kept = (kept_words(asked.pending),) if asked.pending and not asked.running else ()
    leave = LineChoice(id="leave", label="yes, leave", consequence=asked.consequence)
    return LineQuestion(
        lines=("Question: Leave Keen TUI?", *kept, asked.why),
        choices=(KEEP, leave) if asked.running else (KEEP, RETRY, leave),
    )


def replace_question(
    pending: PendingState, title: str, *, running: bool = False, yes: str = "replace"
) -> LineQuestion:
    """Whether something shall take the place of the incomplete turn, which that would end: `title` asks."""
    go_on = LineChoice(id=yes, label="yes", consequence="the incomplete turn is abandoned")
    return LineQuestion(
        lines=(
            f"Question: {title}",
            kept_words(pending),
            "The conversation stays saved, and the files keep their changes.",
        ),
        choices=(KEEP, go_on) if running else (KEEP, RETRY, go_on),
    )


def memory_question(policy: PolicyName) -> LineQuestion:
    """How much of a finished turn later turns shall get."""
    choices = (
        LineChoice(
            id=name, label=name + (", as it is now" if name == policy else ""), consequence=CARRIED[name]
        )
        for name in POLICIES
    )
    return LineQuestion(
        lines=("Question: What should later turns remember of a finished turn?",),
        choices=(*choices, STAY),
    )


def yes_or_no(*lines: str, yes: str = "yes", no: str = "no") -> LineQuestion:
    """A question with two answers, "yes" and "no"."""
    return LineQuestion(lines=lines, choices=(LineChoice(id="yes", label=yes), LineChoice(id="no", label=no)))


def in_use_question() -> LineQuestion:
    """What to do about a session that another program has open."""
    return yes_or_no(
        "Question: Another program has this session open. Continue in a copy?", yes="yes, fork it"
    )


def undo_question(asked: UndoQuestion) -> LineQuestion:
    """Whether to undo these changes."""
    lines = tuple(_undo_lines(asked))
    if asked.can_undo:
        return yes_or_no(*lines, yes="yes, undo", no="no, keep them")
    return LineQuestion(lines=lines, choices=(LineChoice(id="no", label="keep them"),))


def _undo_lines(asked: UndoQuestion) -> Iterator[str]:
    yield f"Question: Restore these files to their state before turn {asked.changes.turn}?"
    for file in asked.files:
        notes = [file.note] if file.note else []
        notes += ["it was changed since"] if file.changed_since else []
        notes += ["it stays as it is"] if file.unkept else []
        yield ", ".join((f"File {file.path}: {file.added} added, {file.removed} removed", *notes)) + "."
    yield from not_covered(asked.changes)


def permissions_question(mode: Mode, permitted: Permitted) -> LineQuestion:
    """What runs unasked here, and whether the mode shall be another or a command ask again."""
    modes: tuple[Mode, ...] = get_args(Mode)
    choices: Iterable[LineChoice] = (
        *(LineChoice(id=each, label=f"mode {each}", consequence=MODES[each]) for each in modes),
        *(
            LineChoice(id=TAKE_BACK + each, label=f"ask again about {revealed(each)}")
            for each in permitted.saved
        ),
        STAY,
    )
    return LineQuestion(lines=tuple(_permitted(mode, permitted)), choices=tuple(choices))


def _permitted(mode: Mode, permitted: Permitted) -> Iterator[str]:
    yield f"Permission mode {mode}: {MODES[mode]}."
    if permitted.sandbox:
        yield permitted.sandbox
    parts = (
        ("Your rule, in the settings", permitted.rules),
        ("Allowed for this session", permitted.session),
        ("Always allowed in this folder", permitted.saved),
        ("Kept back, since it can run code later", permitted.kept_back),
    )
    for title, texts in parts:
        yield from (f"{title}: {revealed(text)}." for text in texts)


def question_of(asked: CommandQuestion) -> LineQuestion:
    """What a command asks, in words."""
    match asked:
        case DiscardQuestion(pending):
            return discard_question(pending)
        case LeaveQuestion():
            return leave_question(asked)
        case ReplaceQuestion(pending, title, running):
            return replace_question(pending, title, running=running)
        case SwitchQuestion(pending, model):
            return replace_question(pending, f"Switch to {model}?", yes="switch")
        case InUseQuestion():
            return in_use_question()
        case PermissionsQuestion(mode, permitted):
            return permissions_question(mode, permitted)
        case MemoryQuestion(policy):
            return memory_question(policy)
        case UndoQuestion():
            return undo_question(asked)
        case _:
            assert_never(asked)
