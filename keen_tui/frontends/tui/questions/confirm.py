"""Questions that the workspace itself asks: before work is given up, and before leaving with work open.

All that could lose work have their answers in one order: keep everything (also esc), retry, then what was
asked for. None of them is preselected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from rich.text import Text

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.shared.questions import (
    DiscardQuestion,
    InUseQuestion,
    LeaveQuestion,
    MemoryQuestion,
    PermissionsQuestion,
    ReplaceQuestion,
    ShortQuestion,
    SwitchQuestion,
)
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.permissions import permissions_question
from keen_tui.frontends.tui.questions.question import Choice, Question
from keen_tui.frontends.tui.widgets.row_widget import wrapped
from keen_tui.memory.pending import PendingState
from keen_tui.memory.recorder import turn_memory
from keen_tui.text.labels import CARRIED
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

_RETRY = Choice(id="retry", label="no, retry it first", consequence="continues from the last result")

_POLICY_CELLS = max(map(len, POLICIES))


def discard_question(pending: PendingState) -> Question:
    """Whether to give up the incomplete turn."""
    return Question(
        title="Discard the incomplete turn?",
        body=_words(_kept(pending), "The files keep their changes; later turns are told which ones."),
        choices=(
            _keep("no, keep it"),
            _RETRY,
            Choice(id="discard", label="yes, discard it", consequence="its calls can't be resumed"),
        ),
        preselected=None,
    )


def leave_question(asked: LeaveQuestion) -> Question:
    """Whether to leave although a turn runs or an incomplete one waits."""
    kept = _kept(asked.pending) if asked.pending and not asked.running else ""
    leave = Choice(id="leave", label="yes, leave", consequence=asked.consequence)
    stay = _keep("no, stay")
    return Question(
        title="Leave Keen TUI?",
        body=_words(kept, asked.why),
        choices=(stay, leave) if asked.running else (stay, _RETRY, leave),
        preselected=None,
    )


def switch_question(pending: PendingState, model: str) -> Question:
    """Whether to go on with another model although it can't resume the incomplete turn."""
    return Question(
        title=f"Switch to {clean(model)}?",
        body=_words(
            _kept(pending),
            "Another model can't continue it. The files keep their changes; later turns are told which ones.",
        ),
        choices=(
            _keep("no, keep this model"),
            _RETRY,
            Choice(id="switch", label="yes, switch", consequence="the incomplete turn is abandoned"),
        ),
        preselected=None,
    )


def replace_question(pending: PendingState, title: str, *, running: bool) -> Question:
    """Whether another session shall take the place of this one, whose incomplete turn that would end.

    `title` asks for it: "Begin a new session?". While a turn runs there is nothing to retry.
    """
    go_on = Choice(id="replace", label="yes", consequence="the incomplete turn is abandoned")
    stay = _keep("no, stay in this session")
    return Question(
        title=clean(title),
        body=_words(
            _kept(pending),
            "It is kept for this session only. The conversation stays saved, and the files keep their "
            "changes.",
        ),
        choices=(stay, go_on) if running else (stay, _RETRY, go_on),
        preselected=None,
    )


def in_use_question(title: str) -> Question:
    """What to do about a session that another program has open."""
    return Question(
        title="Another program has this session open.",
        body=_words(clean(title), "Two programs can't write to one session. You can continue in a copy."),
        choices=(
            Choice(id="yes", label="fork it", consequence="continues in a copy of everything that is saved"),
            Choice(id="no", label="back"),
        ),
    )


def memory_question(policy: PolicyName, glyphs: Glyphs) -> Question:
    """How much of a finished turn later turns shall get; `policy` is the one in use."""
    choices = [
        Choice(
            id=name,
            label=f"{glyphs.running if name == policy else ' '} {name.ljust(_POLICY_CELLS)}",
            consequence=CARRIED[name],
        )
        for name in POLICIES
    ]
    edit = Choice(id="edit", label="  edit what is remembered", consequence="turn by turn, by hand")
    return Question(
        title="What should later turns remember of a finished turn?",
        facts=f"now {policy}",
        why="A change takes effect with the next turn.",
        choices=(*choices, edit),
        preselected=POLICIES.index(policy),
    )


def _keep(label: str) -> Choice:
    """The answer that changes nothing, which is what esc does, too."""
    return Choice(id="keep", label=label, consequence=f"{shown('stop')} does the same")


def _kept(pending: PendingState) -> str:
    memory = turn_memory(pending.facts)
    kept = f"Kept: {counted(pending.calls, 'call')}, {size(pending.trace_bytes)}."
    files = ", ".join(clean(path) for path in memory.files_changed[:5])
    more = len(memory.files_changed) - 5
    return f"{kept} Changed: {files}{f' and {more} more' if more > 0 else ''}." if files else kept


def _words(*texts: str) -> Callable[[int, Styles, Glyphs], list[Text]]:
    def rows(width: int, styles: Styles, glyphs: Glyphs) -> list[Text]:
        return [row for text in texts if text for row in wrapped(text, width, styles("soft"))]

    return rows


def question_of(asked: ShortQuestion, glyphs: Glyphs) -> Question:
    """What a command asks, as the pane asks it."""
    match asked:
        case DiscardQuestion(pending):
            return discard_question(pending)
        case LeaveQuestion():
            return leave_question(asked)
        case ReplaceQuestion(pending, title, running):
            return replace_question(pending, title, running=running)
        case SwitchQuestion(pending, model):
            return switch_question(pending, model)
        case InUseQuestion(title):
            return in_use_question(title)
        case PermissionsQuestion(mode, permitted):
            return permissions_question(mode, permitted)
        case MemoryQuestion(policy):
            return memory_question(policy, glyphs)
        case _:
            assert_never(asked)
