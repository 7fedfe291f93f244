"""A reader of the bus that reports events in whole lines of words."""

from __future__ import annotations

from typing import assert_never

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
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.streaming import LineStream, Reading
from keen_tui.frontends.shared.commands.memory import POLICY_CHOSEN
from keen_tui.frontends.shared.lines.sentences import (
    abandoned,
    compaction_words,
    own_command_ends,
    queue_words,
    tool_begins,
    tool_ends,
    tries_again,
    turn_begins,
    turn_ends,
)
from keen_tui.text.labels import MODES, contact_line, resource_line, search_line, skill_line
from keen_tui.text.run_words import limits_words, report_lines, run_asked, run_begins, run_waits
from keen_tui.text.units import counted

_SILENT = (
    TextDelta,
    Usage,
    ReviewUsed,
    ToolOutput,
    SandboxFound,
    QueueChanged,
    ContextMeasured,
    BackgroundChanged,
)
"""Events that end no line of the reply."""


class Narrator:
    """Reports event by event, except questions, which others ask."""

    def __init__(self, printer: LinePrinter) -> None:
        self._printer = printer
        self._reply = _Reply(printer)
        self._output = LineStream()
        self._own_call = ""
        self._waiting = 0
        self._heard = ""
        self._thinking_told = (0, 0)

    def heard(self, text: str) -> None:
        """Note a line that the user has just written: it needn't be repeated when its turn begins. What a
        command or a server makes of it is."""
        self._heard = text

    def tell(self, event: Event) -> None:
        """Report an event, if there is anything to say."""
        if not isinstance(event, _SILENT):
            self._reply.pause(is_end=isinstance(event, TurnDone | TurnIncomplete | TurnError))
        if isinstance(event, SessionEvent):
            self._tell_of_session(event)
        else:
            self._tell_of_turn(event)

    def begin_session(self) -> None:
        """Report that another session has no queue of the one before it."""
        waited, self._waiting = self._waiting, 0
        if waited:
            was, it = ("message was", "it") if waited == 1 else ("messages were", "them")
            self._printer.say(f"{waited} queued {was} not sent; up brings {it} back.")

    def _tell_of_turn(self, event: TurnEvent) -> None:
        say = self._printer.say
        match event:
            case TurnStarted():
                self._tell_beginning(event)
            case TextDelta():
                self._reply.take(event)
            case ReasoningDelta():
                if self._thinking_told != (event.turn, event.step):
                    self._thinking_told = (event.turn, event.step)
                    say("Thinking.")
            case StepRestarted():
                if self._reply.has_told(event.turn, event.step):
                    say("Ignore the reply so far; it starts again.")
            case ToolStarted():
                say(tool_begins(event))
            case ToolFinished():
                self._printer.read(tool_ends(event))
            case RetryScheduled():
                say(tries_again(event))
            case Notice():
                say(event.text)
            case ImagesAttached():
                names = ", ".join(image.name for image in event.images)
                say(f"With {counted(len(event.images), 'image')}: {names}.")
            case SkillCalled():
                say(f"With the {skill_line(event.skill)}.")
            case ResourcesAttached():
                self._printer.read([f"With the {resource_line(each)}." for each in event.resources])
            case Steered():
                say(f"Sent to the running turn: {event.text}")
            case TurnDone() | TurnIncomplete() | TurnError():
                lost = self._reply.was_open and not isinstance(event, TurnDone)
                self._printer.read(turn_ends(event, lost_words=lost))
                self._reply.was_open = False
                if self._waiting and not isinstance(event, TurnDone):
                    say(queue_words(self._waiting))
            case ToolOutput():
                if event.id == self._own_call:
                    self._printer.read(self._output.take(event.text))
            case HostContacted():
                say(f"The command {contact_line(event)}.")
            case WebSearched():
                say(f"The model {search_line(event)}.")
            case ApprovalAnswered(by="stop") | QuestionAnswered(by="stop"):
                say("The question is no longer open.")
            case HookRunning():
                say(f"The hook {event.label} is running." if event.label else None)
            case ApprovalRequested() | ApprovalAnswered() | QuestionAsked() | QuestionAnswered() | Usage():
                pass  # the question is asked elsewhere; the statistics count
            case AgentEvent(event=ToolStarted() as begun):
                say(f"Sub-agent {event.agent}: {tool_begins(begun)}")
            case AgentEvent(event=RetryScheduled() as retry):
                say(f"Sub-agent {event.agent}: {tries_again(retry)}")
            case ContextAdded() | AgentEvent() | AgentWorked() | CallTried():
                pass  # a notice tells of what was added, and results of the rest
            case _:
                assert_never(event)

    def _tell_of_session(self, event: SessionEvent) -> None:
        say = self._printer.say
        match event:
            case TurnAbandoned():
                say(abandoned(event))
            case TurnUndone():
                say(f"Changes of turn {event.undone} undone: {', '.join(event.files)}.")
            case MessageTakenBack():
                say("The message is removed from the conversation.")
            case MemoryEdited():
                say(f"The memory of turn {event.turn} has changed.")
            case QueueChanged():
                self._tell_queue(event)
            case ModeChanged():
                say(f"Permission mode {event.mode}: {MODES[event.mode]}.")
            case SandboxFound():
                say(f"Commands run without a sandbox: {event.reason}" if event.reason else None)
            case PolicyChanged():
                say(POLICY_CHOSEN.format(policy=event.policy))
            case PendingKept(durable=durable):
                say(f"Incomplete turns are kept {'on disk' if durable else 'in memory only'} from now on.")
            case ReviewUsed():
                pass  # /usage tells it
            case SessionRenamed():
                say(f"Session title: {event.title}")
            case ShellStarted():
                self._own_call = event.id
            case ShellFinished():
                self._printer.read(self._output.end())
                say(own_command_ends(event))
            case CompactionStarted() | Compacted() | CompactionFailed():
                say(compaction_words(event))
            case RunBegun():
                say(run_begins(event))
            case RunContinued():
                say(f"The run continues. {limits_words(event.limits)}")
            case RunWaiting():
                say(run_waits(event))
            case RunAsked():
                say(run_asked(event))
            case RunEnded():
                self._printer.read(report_lines(event.report))
            case CompactionDelta() | ModelChanged() | SessionOpened() | SessionRestored():
                pass  # the ends of summaries, choices and openings are reported where they are awaited
            case ContextMeasured() | BackgroundChanged() | RunWaited() | NoticeOver():
                pass  # /context and /tasks report it; after a wait the turn begins again
            case _:
                assert_never(event)

    def _tell_beginning(self, event: TurnStarted) -> None:
        if event.text is not None and event.text != self._heard:
            self._printer.read(f"You: {event.text}".split("\n"))
        self._heard = ""
        self._printer.read(turn_begins(event))

    def _tell_queue(self, event: QueueChanged) -> None:
        waiting, before = len(event.texts), self._waiting
        self._waiting = waiting
        if event.steered:
            self._printer.say("It is sent with the next tool results.")
        elif waiting > before:
            self._printer.say(
                f"Queued. {counted(waiting, 'message waits', 'messages wait')} for the turn to end."
            )


class _Reply:
    """The streaming reply. `was_open`: its step hadn't ended when the turn did."""

    def __init__(self, printer: LinePrinter) -> None:
        self._printer = printer
        self._stream = LineStream(sentences=True)
        self._reading = Reading()
        self._label = ""
        self._step = (0, 0)
        self.was_open = False

    def take(self, delta: TextDelta) -> None:
        """Print the lines that this piece completes."""
        if not self.was_open:
            self._reading, self._label = Reading(), "Reply: "
        self._step, self.was_open = (delta.turn, delta.step), True
        for line in self._stream.take(delta.text):
            self._say(self._reading.line(line))

    def pause(self, *, is_end: bool) -> None:
        """Print what has arrived so far, because something else follows."""
        for line in self._stream.end():
            self._say(self._reading.line(line))
        self._say(self._reading.end())
        self.was_open = self.was_open and is_end

    def has_told(self, turn: int, step: int) -> bool:
        """Whether any text of that step was printed."""
        return self._step == (turn, step)

    def _say(self, line: str | None) -> None:
        if line is not None:
            self._printer.say(self._label + line)
            self._label = ""
