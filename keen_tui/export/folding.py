"""Folds the events of a session into a document, in one pass."""

from __future__ import annotations

from typing import assert_never

from msgspec import field
from msgspec.structs import replace

from keen_tui.domain.events import (
    AgentEvent,
    AgentWorked,
    ApprovalAnswered,
    ApprovalRequested,
    BackgroundChanged,
    CallTried,
    Compacted,
    CompactionDelta,
    CompactionFailed,
    CompactionStarted,
    ContextAdded,
    ContextMeasured,
    EndEvent,
    Event,
    HookRunning,
    HostContacted,
    ImagesAttached,
    MemoryEdited,
    MessageTakenBack,
    ModeChanged,
    ModelChanged,
    Notice,
    NoticeOver,
    PendingKept,
    PolicyChanged,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    ReasoningDelta,
    ResourcesAttached,
    RetryScheduled,
    ReviewUsed,
    RunAsked,
    RunBegun,
    RunContinued,
    RunEnded,
    RunWaited,
    RunWaiting,
    SandboxFound,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    ShellFinished,
    ShellStarted,
    SkillCalled,
    Steered,
    StepRestarted,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
    Usage,
    WebSearched,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.spent import NOTHING, NOTHING_LEFT_OUT
from keen_tui.export.document import (
    ExportedCall,
    ExportedItem,
    ExportedSession,
    ExportedText,
    ExportSource,
    Thought,
    Turn,
    TurnState,
)

UNTITLED = "Untitled session"


def fold(source: ExportSource) -> ExportedSession:
    """The document of a session. Events of a turn whose beginning is missing are kept, too."""
    folding = _Folding()
    for event in source.events:
        folding.add(event)
    return ExportedSession(
        title=source.title or folding.title or folding.first_words() or UNTITLED,
        session_id=source.session_id,
        workspace=source.workspace,
        began=source.began,
        model=source.model,
        aside=folding.aside,
        parts=tuple(folding.parts),
    )


class _Folding:
    """The parts so far. `title` is the newest name of the session, `aside` what was asked beside turns."""

    def __init__(self) -> None:
        self.parts: list[_OpenTurn | ExportedItem] = []
        self.title = ""
        self.aside = NOTHING
        self._turns: dict[int, _OpenTurn] = {}
        self._running: _OpenTurn | None = None
        self._pending: list[_OpenTurn] = []
        self._model: ModelChanged | None = None
        self._summary: Compacted | None = None
        self._left_out = NOTHING_LEFT_OUT

    def first_words(self) -> str:
        """The first line of the first message."""
        words = (turn.words.strip() for turn in self._turns.values())
        return next((text.split("\n", 1)[0] for text in words if text), "")

    def add(self, event: Event) -> None:
        self._left_out = self._left_out.after(event)
        match event:
            case TurnStarted():
                self._start(event)
            case TextDelta() | ReasoningDelta():
                self._turn(event.turn).stream(event)
            case StepRestarted():
                self._turn(event.turn).withdraw(event.step)
            case ToolStarted():
                self._turn(event.turn).call(event)
            case ToolFinished():
                self._turn(event.turn).result(event)
            case Usage():
                self._spend(event)
            case Notice():
                if event.turn:  # others are words for the moment
                    self._turn(event.turn).items.append(event)
            case Steered() | ImagesAttached() | SkillCalled() | ResourcesAttached():
                self._turn(event.turn).items.append(event)
            case HostContacted() | WebSearched():
                self._turn(event.turn).items.append(event)
            case TurnDone() | TurnIncomplete() | TurnError():
                self._end(event)
            case TurnAbandoned():
                self._abandon(event)
            case MessageTakenBack():
                self._take_back(event.turn)
            case MemoryEdited():
                self._edit_memory(event)
            case Compacted():
                self._summary = event
                self._happened(event)
            case TurnUndone() | PolicyChanged() | ShellFinished():
                self._happened(event)
            case RunBegun() | RunAsked() | RunWaiting() | RunEnded():
                self._happened(event)
            case ModelChanged():
                self._choose_model(event)
            case SessionRenamed():
                self.title = event.title
            case ToolOutput() | RetryScheduled() | ShellStarted() | ContextAdded() | HookRunning():
                pass
            case (
                ApprovalRequested() | ApprovalAnswered() | QuestionAsked() | QuestionAnswered() | CallTried()
            ):
                pass  # what came of it is told by later events
            case CompactionStarted() | CompactionDelta() | CompactionFailed():
                pass
            case RunContinued() | RunWaited() | NoticeOver():
                pass
            case QueueChanged() | ModeChanged() | SandboxFound() | ContextMeasured() | PendingKept():
                pass
            case ReviewUsed():
                pass  # the review is a session of its own
            case SessionOpened() | SessionRestored() | BackgroundChanged() | AgentEvent() | AgentWorked():
                pass
            case _:
                assert_never(event)

    def _turn(self, number: int) -> _OpenTurn:
        if number not in self._turns:
            self._turns[number] = _OpenTurn(number)
            self.parts.append(self._turns[number])
        return self._turns[number]

    def _spend(self, event: Usage) -> None:
        """In its turn; what summaries and titles took belongs to none."""
        if event.turn:
            turn = self._turn(event.turn)
            turn.spent = turn.spent.plus(event, self._left_out)
        else:
            self.aside = self.aside.plus(event)

    def _start(self, event: TurnStarted) -> None:
        if self._running:
            self._running.lose_streaming()
        turn = self._running = self._turn(event.turn)
        turn.words = turn.words if event.text is None else event.text
        turn.state = "unfinished"

    def _end(self, end: EndEvent) -> None:
        turn = self._turn(end.turn)
        turn.end(end)
        self._running = None
        if isinstance(end, TurnDone):
            self._settle_pending("continued")
        if isinstance(end, TurnIncomplete):
            self._pending.append(turn)

    def _abandon(self, event: TurnAbandoned) -> None:
        """The memory of all pending turns is from now on that of this one."""
        self._settle_pending("abandoned")
        turn = self._turn(event.turn)
        turn.lose_streaming()
        turn.state, turn.memory = "abandoned", event.turn_memory
        turn.items.append(event)
        self._running = None

    def _edit_memory(self, event: MemoryEdited) -> None:
        """Of the turn, or of the summary that stands for it: then the turn's own stays as it was."""
        old = self._summary
        if old is None or event.turn > old.turn:
            self._turn(event.turn).memory = event.turn_memory
            return
        new = self._summary = replace(old, turn_memory=event.turn_memory)
        self.parts = [new if part is old else part for part in self.parts]
        for turn in self._turns.values():
            turn.items = [new if item is old else item for item in turn.items]

    def _settle_pending(self, state: TurnState) -> None:
        for turn in self._pending:
            if turn.state == "incomplete":
                turn.state, turn.memory = state, TurnMemory()
        self._pending.clear()

    def _take_back(self, number: int) -> None:
        turn = self._turns.pop(number, None)
        if turn:
            self.parts.remove(turn)

    def _happened(self, event: ExportedItem) -> None:
        """In the turn that runs, or between two turns."""
        (self._running.items if self._running else self.parts).append(event)

    def _choose_model(self, event: ModelChanged) -> None:
        """The first model is that of the session; later ones are news."""
        known, self._model = self._model, event
        if known and (known.model, known.server) != (event.model, event.server):
            self._happened(event)


class _OpenTurn(Turn, eq=False):
    """A turn while its events come in. `streaming` is what a restart of its step would withdraw, `running`
    the calls without a result by id."""

    streaming: list[ExportedText | Thought] = field(default_factory=list)
    running: dict[str, int] = field(default_factory=dict)

    def stream(self, event: TextDelta | ReasoningDelta) -> None:
        """Text goes on in the last item where that is of the same kind and step."""
        kind = Thought if isinstance(event, ReasoningDelta) else ExportedText
        last = self.streaming[-1] if self.streaming and self.streaming[-1] is self.items[-1] else None
        if last is None or last.step != event.step or type(last) is not kind:
            last = kind(event.step)
            self.streaming.append(last)
            self.items.append(last)
        last.pieces.append(event.text)
        if isinstance(last, Thought) and isinstance(event, ReasoningDelta):
            last.seconds = event.seconds

    def withdraw(self, step: int) -> None:
        """What that step has streamed is gone."""
        gone = [streamed for streamed in self.streaming if streamed.step == step]
        self.streaming = [streamed for streamed in self.streaming if streamed.step != step]
        self.items = [item for item in self.items if item not in gone]

    def call(self, started: ToolStarted) -> None:
        """A call began: the text before it belongs to a whole step."""
        self.streaming.clear()
        self.running[started.id] = len(self.items)
        self.items.append(ExportedCall(started))

    def result(self, finished: ToolFinished) -> None:
        place = self.running.pop(finished.id, None)
        if place is not None:
            item = self.items[place]
            assert isinstance(item, ExportedCall)
            self.items[place] = ExportedCall(item.started, finished)

    def end(self, end: EndEvent) -> None:
        if not isinstance(end, TurnDone):
            self.lose_streaming()
        self.state = (
            "done" if isinstance(end, TurnDone) else "failed" if isinstance(end, TurnError) else "incomplete"
        )
        self.memory = end.turn_memory
        self.streaming.clear()
        self.running.clear()
        self.items.append(end)

    def lose_streaming(self) -> None:
        """The step that was streaming is cut: nothing of it is carried over."""
        for streamed in self.streaming:
            streamed.lost = True
        self.streaming.clear()
