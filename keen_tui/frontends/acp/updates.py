"""Turns the events of a session into updates of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final, assert_never

from acp.helpers import text_block, update_user_message_text
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    Cost,
    SessionInfoUpdate,
    ToolCallProgress,
    ToolCallStart,
    UsageUpdate,
    UserMessageChunk,
)

from keen_tui.domain.errors import STOPPED
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
    SessionEvent,
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
    TurnEvent,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
    Usage,
    WebSearched,
)
from keen_tui.frontends.acp import numbers
from keen_tui.frontends.acp.call_updates import CallUpdates
from keen_tui.frontends.acp.numbers import Numbers
from keen_tui.frontends.shared.lines.sentences import (
    abandoned,
    compaction_words,
    tries_again,
    turn_begins,
    turn_ends,
)
from keen_tui.text.labels import contact_line, resource_line, search_line, skill_line
from keen_tui.text.run_words import limits_words, report_lines, run_asked, run_begins, run_waits
from keen_tui.text.units import counted

Update = (
    AgentMessageChunk
    | AgentPlanUpdate
    | AgentThoughtChunk
    | SessionInfoUpdate
    | ToolCallProgress
    | ToolCallStart
    | UsageUpdate
    | UserMessageChunk
)

_HURRY: Final = "Stop the turn and write /retry to try at once."


class Updates:
    """The updates for each event of a session.

    Args:
        terminals: the editor shows the output of commands in its own terminal view.
    """

    def __init__(self, workspace: Path, *, terminals: bool) -> None:
        self.heard = ""
        """The message that the editor has just sent. It isn't sent back to the editor."""
        self.calls = CallUpdates(workspace, terminals=terminals)
        self._in_text = False
        self._is_open = False
        self._window: int | None = None
        self._cost: float | None = 0.0

    def use_window(self, tokens: int | None) -> None:
        """Note the context window of the model in use; None if it isn't known."""
        self._window = tokens

    async def of(self, event: Event) -> AsyncIterator[Update]:
        """The updates for an event; none for many events."""
        if isinstance(event, SessionEvent):
            for update in self._of_session(event):
                yield update
            return
        match event:
            case ToolStarted():
                self._in_text = self._is_open = False  # the reply is whole
                yield self.calls.begins(event)
            case ToolOutput():
                yield self.calls.output(event)
            case ToolFinished():
                async for ended in self.calls.ends(event):
                    yield ended
            case ApprovalRequested():
                yield await self.calls.asks(event)
            case _:
                for update in self._of_turn(event):
                    yield update

    def notice(self, *sentences: str, meta: Numbers | None = None) -> Iterator[AgentMessageChunk]:
        """Sentences from Keen, as a message between those of the model."""
        said = [sentence.strip() for sentence in sentences if sentence.strip()]
        if said:
            paragraphs = "\n\n".join(said)
            before = "\n\n" if self._in_text else ""
            self._in_text = False
            marked = {"keen/notice": True, **(meta or {})}
            yield _message(f"{before}{paragraphs}\n\n", marked)

    def _of_turn(self, event: TurnEvent) -> Iterator[Update]:
        match event:
            case TurnStarted():
                self._in_text = self._is_open = False
                if event.text is not None and event.text != self.heard:
                    yield update_user_message_text(event.text)
                elif event.text is None:
                    yield from self.notice(*turn_begins(event))
                self.heard = ""
            case TextDelta():
                self._in_text = self._is_open = True
                yield _message(event.text)
            case ReasoningDelta():
                yield AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(event.text))
            case StepRestarted():
                if self._is_open:
                    self._is_open = False
                    yield from self.notice("Ignore the reply so far; it starts again.")
            case RetryScheduled():
                yield from self.notice(tries_again(event, hurry=_HURRY), meta=numbers.of_retry(event))
            case Notice():
                yield from self.notice(event.text)
            case ImagesAttached():
                names = ", ".join(image.name for image in event.images)
                yield from self.notice(f"With {counted(len(event.images), 'image')}: {names}.")
            case SkillCalled():
                yield from self.notice(f"With the {skill_line(event.skill)}.")
            case ResourcesAttached():
                yield from self.notice(*(f"With the {resource_line(each)}." for each in event.resources))
            case Steered():
                yield update_user_message_text(event.text)
            case HostContacted(problem=problem) if problem:
                yield from self.notice(f"The command {contact_line(event)}.")
            case WebSearched():
                yield from self.notice(f"The model {search_line(event)}.")
            case HookRunning(label=label) if label:
                yield from self.notice(f"The hook {label} is running.")
            case TurnDone() | TurnIncomplete() | TurnError():
                yield from self._turn_ends(event)
            case AgentEvent(event=RetryScheduled() as retry):
                yield from self.notice(f"Sub-agent {event.agent}: {tries_again(retry, hurry=_HURRY)}")
            case AgentEvent(event=ToolStarted() | ToolFinished() as call):
                yield self.calls.agent_works(event, call)
            case Usage():
                self._note_cost(event)
            case HostContacted() | HookRunning() | ContextAdded() | AgentEvent() | AgentWorked():
                pass  # notices and results say what matters
            case ApprovalAnswered():
                yield self.calls.answered(event)
            case QuestionAsked() | QuestionAnswered() | CallTried():
                pass  # questions are asked elsewhere
            case ToolStarted() | ToolOutput() | ToolFinished() | ApprovalRequested():
                pass  # `of` handles calls
            case _:
                assert_never(event)

    def _of_session(self, event: SessionEvent) -> Iterator[Update]:
        match event:
            case TurnAbandoned():
                yield from self.notice(abandoned(event))
            case TurnUndone():
                yield from self.notice(f"Changes of turn {event.undone} undone: {', '.join(event.files)}.")
            case MessageTakenBack():
                yield from self.notice("The message is removed from the conversation.")
            case MemoryEdited():
                yield from self.notice(f"The memory of turn {event.turn} has changed.")
            case SandboxFound():
                if event.reason:
                    yield from self.notice(f"Commands run without a sandbox: {event.reason}")
            case SessionRenamed():
                yield SessionInfoUpdate(session_update="session_info_update", title=event.title)
            case ShellStarted():
                yield self.calls.own_command_begins(event)
            case ShellFinished():
                yield self.calls.own_command_has_ended(event)
            case CompactionStarted() | Compacted() | CompactionFailed():
                yield from self.notice(compaction_words(event) or "")
            case RunBegun():
                yield from self.notice(run_begins(event))
            case RunContinued():
                yield from self.notice(f"The run continues. {limits_words(event.limits)}")
            case RunWaiting():
                yield from self.notice(run_waits(event))
            case RunAsked():
                yield from self.notice(run_asked(event))
            case RunEnded():
                yield from self.notice("\n".join(f"- {line}" for line in report_lines(event.report)))
            case ContextMeasured():
                yield from self._usage(event)
            case SessionOpened():
                self._cost = 0.0
            case SessionRestored():
                yield from self.notice(event.skipped)
            case ModeChanged() | ModelChanged() | PolicyChanged() | QueueChanged() | PendingKept():
                pass  # `EditorSession` sends options
            case ReviewUsed():
                self._note_cost(event.usage)
            case CompactionDelta() | BackgroundChanged() | RunWaited() | NoticeOver():
                pass
            case _:
                assert_never(event)

    def _turn_ends(self, event: EndEvent) -> Iterator[Update]:
        """The last message of a turn that isn't done: what was kept, what wasn't, and how to continue."""
        lost_words, self._is_open = self._is_open and not isinstance(event, TurnDone), False
        if isinstance(event, TurnDone):
            return
        if isinstance(event, TurnError) and event.detail == STOPPED and not lost_words:
            return
        yield from self.notice(*turn_ends(event, lost_words=lost_words), meta=numbers.of_turn(event))

    def _note_cost(self, event: Usage) -> None:
        known = self._cost is not None and event.cost is not None
        self._cost = (self._cost or 0.0) + (event.cost or 0.0) if known else None

    def _usage(self, event: ContextMeasured) -> Iterator[UsageUpdate]:
        if event.tokens is not None and self._window:
            cost = Cost(amount=round(self._cost, 6), currency="USD") if self._cost else None
            yield UsageUpdate(session_update="usage_update", used=event.tokens, size=self._window, cost=cost)


def _message(text: str, meta: dict[str, Any] | None = None) -> AgentMessageChunk:
    return AgentMessageChunk(session_update="agent_message_chunk", content=text_block(text), field_meta=meta)
