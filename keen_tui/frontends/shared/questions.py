"""Questions as values: title, body and numbered answers. Each front end draws them in its own way.

Questions that could lose work have their answers in one order: keep everything, retry, then what was asked
for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.messages import turn_memory
from keen_tui.domain.reports import POLICIES
from keen_tui.text.disguise import revealed
from keen_tui.text.labels import CARRIED, MODES, kept_words, unknown_call
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

if TYPE_CHECKING:
    from keen_tui.domain.events import ApprovalRequested, QuestionAsked
    from keen_tui.domain.permitted import Permitted
    from keen_tui.domain.reports import Changes, TreeReport
    from keen_tui.frontends.shared.changes import ShownFile
    from keen_tui.memory.pending import PendingState

TAKE_BACK = "take back "
"""The beginning of the answer that revokes a permission; the command follows it."""

SCOPES: Final[Mapping[str, Scope]] = {"yes": "once", "grant": "session", "save": "workspace"}
"""The answers that allow a call, and how far they go."""

_MOST_NAMED = 5
"""Changed files, and commands, that a question names; the others are counted."""
_LONGEST_NAME = 60
"""Characters of a command in the background that a question shows."""


class Choice(Struct, frozen=True, kw_only=True):
    """A numbered answer. Text may go with an answer that `takes_words`, and must with one that `needs_words`;
    `words_hint` asks for it."""

    id: str
    label: str
    consequence: str = ""
    takes_words: bool = False
    needs_words: bool = False
    words_hint: str = "What should it do instead?"


_RETRY = Choice(id="retry", label="no, retry it first", consequence="continues from the last result")
_CHANGES_STAY = "The files keep their changes; later turns are told which ones."
TURN_KEPT: Final = "The incomplete turn is kept."
STAYED: Final = "Keen keeps running."


class DiscardQuestion(Struct, frozen=True):
    """Whether to discard the incomplete turn: "keep", "retry", "discard"."""

    pending: PendingState

    title = "Discard the incomplete turn?"

    @property
    def body(self) -> tuple[str, ...]:
        return (_kept(self.pending), *_changes_stay(self.pending))

    @property
    def choices(self) -> tuple[Choice, ...]:
        discard = Choice(id="discard", label="yes, discard it", consequence="its calls can't be resumed")
        return (_keep("no, keep it"), _RETRY, discard)


class LeaveQuestion(Struct, frozen=True):
    """Whether to leave although a turn or a review runs, a turn is incomplete, or commands run in the
    background: "keep", "retry", "leave". `durable`: the turn's work outlives the program. `tasks` are those
    commands, `review` says which changes are reviewed."""

    pending: PendingState | None
    running: bool
    durable: bool
    tasks: tuple[str, ...] = ()
    review: str = ""

    title = "Quit Keen TUI?"

    @property
    def body(self) -> tuple[str, ...]:
        tasks = (_running(self.tasks),) if self.tasks else ()
        if self.review:
            tasks = (f"A review of {revealed(self.review)} is running. Quitting ends it.", *tasks)
        if self.running:
            return ("A turn is running. Quitting stops it; the files keep its changes.", *tasks)
        if self.pending is None:
            return tasks
        fate = (
            "It is saved on disk, so you can retry it when you resume the session."
            if self.durable
            else "It is only in memory, so it can't be resumed once you quit."
        )
        return (_kept(self.pending), f"{fate} The files keep their changes.", *tasks)

    @property
    def choices(self) -> tuple[Choice, ...]:
        if self.running:
            fate = "the turn can be retried later" if self.durable else "the turn can't be resumed later"
        elif self.pending is None:
            fate = self._ended
        else:
            fate = "the incomplete turn is kept" if self.durable else "the incomplete turn is lost"
        leave = Choice(id="leave", label="yes, quit", consequence=fate)
        stay = _keep("no, stay")
        return (stay, _RETRY, leave) if self.pending and not self.running else (stay, leave)

    @property
    def _ended(self) -> str:
        """The work that ends, if no turn is concerned."""
        commands = "the command" if len(self.tasks) == 1 else "the commands"
        if not self.review:
            return f"{commands} end{'s' if len(self.tasks) == 1 else ''}"
        return f"the review and {commands} end" if self.tasks else "the review ends"


class TreeQuestion(Struct, frozen=True):
    """Whether to keep the work tree `tree` when the person quits: "leave" keeps it, "remove" deletes it,
    "merge" merges it and asks again, "patch" shows its patch and doesn't quit; "stay". `said` is the result
    of the answer before."""

    tree: str
    report: TreeReport
    said: str = ""

    @property
    def title(self) -> str:
        return f"Quit and keep the work tree {self.tree}?"

    @property
    def body(self) -> tuple[str, ...]:
        said = (self.said,) if self.said else ()
        return (*said, f"{self.tree} has {self.report.changes or 'nothing that would be lost'}.")

    @property
    def choices(self) -> tuple[Choice, ...]:
        report = self.report
        choices = [
            Choice(
                id="leave",
                label="yes, quit and keep it",
                consequence=f"continue with keen-tui --worktree {self.tree} --continue",
            )
        ]
        if report.follows:
            forward = f"moves it forward by {counted(report.ahead, 'commit')}, then asks again"
            choices.append(Choice(id="merge", label=f"merge into {clean(report.base)}", consequence=forward))
        if not report.is_merged:
            choices.append(
                Choice(
                    id="patch", label="show its patch", consequence="to apply it yourself; Keen keeps running"
                )
            )
        lost = f"loses {report.changes}" if report.changes else "loses only ignored files"
        return (
            *choices,
            Choice(id="remove", label="quit and remove it", consequence=lost),
            Choice(id="stay", label="no, stay"),
        )


class ReplaceQuestion(Struct, frozen=True):
    """Whether another session should replace this one, which would end its incomplete turn: "keep", "retry",
    "replace". `title` asks for it: "Begin a new session?". While a turn runs there is nothing to retry."""

    pending: PendingState
    title: str
    running: bool

    @property
    def body(self) -> tuple[str, ...]:
        fate = "Another session can't continue it."
        return (
            _kept(self.pending),
            f"{fate} The conversation stays saved, and the files keep their changes.",
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        stay = _keep("no, stay in this session")
        go_on = Choice(id="replace", label="yes", consequence="the incomplete turn is abandoned")
        return (stay, go_on) if self.running else (stay, _RETRY, go_on)


class SwitchQuestion(Struct, frozen=True):
    """Whether to switch to a model that can't continue the incomplete turn: "keep", "retry", "switch"."""

    pending: PendingState
    model: str

    @property
    def title(self) -> str:
        return f"Switch to {self.model}?"

    @property
    def body(self) -> tuple[str, ...]:
        return (
            _kept(self.pending),
            " ".join(("Another model can't continue it.", *_changes_stay(self.pending))),
        )

    @property
    def choices(self) -> tuple[Choice, ...]:
        switch = Choice(id="switch", label="yes, switch", consequence="the incomplete turn is abandoned")
        return (_keep("no, keep this model"), _RETRY, switch)


class InUseQuestion(Struct, frozen=True):
    """Whether to fork a session that another program has open: "yes" or "no"."""

    session: str

    title = "Another program has this session open."
    choices = (
        Choice(id="yes", label="fork it", consequence="continues in a copy of everything that is saved"),
        Choice(id="no", label="back"),
    )

    @property
    def body(self) -> tuple[str, ...]:
        return (self.session, "Two programs can't write to one session. You can continue in a copy.")


class PermissionsQuestion(Struct, frozen=True):
    """Shows what runs without asking. The answers are a mode, or `TAKE_BACK` and a command, which revokes its
    permission."""

    mode: Mode
    permitted: Permitted

    @property
    def title(self) -> str:
        return f"Permissions: {self.mode}"

    @property
    def body(self) -> tuple[str, ...]:
        words = MODES[self.mode]
        sandbox = (self.permitted.sandbox,) if self.permitted.sandbox else ()
        return (f"{words[0].upper()}{words[1:]}.", *sandbox)

    @property
    def groups(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The permissions apart from the mode, in groups with titles. No group is empty."""
        groups = (
            ("your rules, in the settings", self.permitted.rules),
            ("allowed for this session", self.permitted.session),
            ("always allowed in this folder", self.permitted.saved),
            ("set aside, since it can run code later", self.permitted.set_aside),
        )
        return tuple((title, tuple(map(revealed, texts))) for title, texts in groups if texts)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The commands that are always allowed, oldest first, each to be revoked."""
        return tuple(
            Choice(id=TAKE_BACK + command, label="ask again about", consequence=revealed(command))
            for command in self.permitted.saved
        )


class MemoryQuestion(Struct, frozen=True):
    """Which memory policy to use, where `policy` is in use."""

    policy: PolicyName

    title = "What should later turns remember of a finished turn?"
    choices = tuple(Choice(id=name, label=name, consequence=CARRIED[name]) for name in POLICIES)


class UndoQuestion(Struct, frozen=True):
    """Whether to undo these changes: "yes", "no". There may be no file that can be restored."""

    changes: Changes
    files: Sequence[ShownFile]

    @property
    def title(self) -> str:
        turn, restored = self.changes.turn, sum(not file.unkept for file in self.files)
        if not restored:
            return f"Turn {turn} can't be undone: the earlier contents of its files weren't saved."
        whose = "its" if restored == 1 else "their"
        return f"Restore {counted(restored, 'file')} to {whose} state before turn {turn}?"

    @property
    def choices(self) -> tuple[Choice, ...]:
        if not self.can_undo:
            return (Choice(id="no", label="keep them"),)
        return (Choice(id="yes", label="yes, undo"), Choice(id="no", label="no, keep them"))

    @property
    def can_undo(self) -> bool:
        """Whether a file can be restored."""
        return any(not file.unkept for file in self.files)


ConfirmQuestion: TypeAlias = (
    DiscardQuestion | LeaveQuestion | TreeQuestion | ReplaceQuestion | SwitchQuestion | InUseQuestion
)
"""Questions that consist of a title, sentences and answers only."""

ShortQuestion: TypeAlias = ConfirmQuestion | PermissionsQuestion
"""Questions that fit below the conversation."""

CommandQuestion: TypeAlias = ShortQuestion | MemoryQuestion | UndoQuestion


def approval_choices(event: ApprovalRequested, gap: str) -> tuple[Choice, ...]:
    """The answers to an approval: those in `SCOPES`, then "no" and "stop". `gap` separates several
    commands."""
    choices = [Choice(id="yes", label="yes, this once")]
    if event.grant:
        choices.append(Choice(id="grant", label=f"yes, and {clean(event.grant)}"))
    if event.saves:
        is_all = event.saves == (event.target.strip(),) and not event.target.endswith("*")
        saved = "exactly this command" if is_all else gap.join(map(revealed, event.saves))
        place = "in this project" if event.saves_for_project else "in this folder"
        choices.append(Choice(id="save", label=f"yes, always {place}", consequence=saved))
    no = Choice(id="no", label="no, and say why", takes_words=True)
    return (
        *choices,
        no,
        Choice(id="stop", label="no, and stop the turn", consequence="finished calls are kept"),
    )


def approval_reason(event: ApprovalRequested) -> str:
    """Why the approval asks, as a sentence; "" for no reason."""
    return f"Asks because {revealed(event.why)}." if event.why else ""


def is_risky(event: ApprovalRequested) -> bool:
    """Whether no answer may be preselected, since a yes may lose something or touch secrets."""
    parts = event.display.parts if isinstance(event.display, CommandDisplay) else ()
    return event.is_risky or any(part.is_risky for part in parts)


def asked_choices(event: QuestionAsked) -> tuple[Choice, ...]:
    """The answers to a question of the model, with their numbers from 0 as ids."""
    return tuple(
        Choice(
            id=str(number),
            label=clean(choice.label),
            consequence=clean(choice.consequence),
            takes_words=choice.wants_words,
            needs_words=choice.wants_words,
            words_hint="Your answer",
        )
        for number, choice in enumerate(event.choices)
    )


def _keep(label: str) -> Choice:
    """The answer that changes nothing."""
    return Choice(id="keep", label=label)


def _running(tasks: tuple[str, ...]) -> str:
    """Returns a sentence about the commands that quitting ends."""
    named = ", ".join(revealed(task[:_LONGEST_NAME]) for task in tasks[:_MOST_NAMED])
    more = f" and {len(tasks) - _MOST_NAMED} more" if len(tasks) > _MOST_NAMED else ""
    if len(tasks) == 1:
        return f"A command is running in the background: {named}. Quitting ends it."
    return f"{len(tasks)} commands are running in the background: {named}{more}. Quitting ends them."


def _changes_stay(pending: PendingState) -> tuple[str, ...]:
    """Returns a sentence about the changed files of a turn that is given up; () if it changed none."""
    return (_CHANGES_STAY,) if turn_memory(pending.all_facts).files_changed else ()


def _kept(pending: PendingState) -> str:
    """Returns sentences about the work that an incomplete turn keeps."""
    files = turn_memory(pending.all_facts).files_changed
    kept = f"Kept: {kept_words(pending.calls, pending.agents)}, {size(pending.trace_bytes)}."
    more = len(files) - _MOST_NAMED
    names = ", ".join(map(clean, files[:_MOST_NAMED]))
    changed = f" Changed: {names}{f' and {more} more' if more > 0 else ''}." if files else ""
    doubt = "; ".join(map(unknown_call, pending.unknown_calls))
    return f"{kept}{changed}" + (f" Effects unknown: {doubt}." if doubt else "")
