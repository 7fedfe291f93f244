"""Turns as events, for tests of reducer and screen, with the texts of the design's pictures."""

from __future__ import annotations

from keen_tui.domain.display import CommandDisplay, DiffDisplay, DiffLine
from keen_tui.domain.events import (
    AnswerChoice,
    ApprovalRequested,
    ContextMeasured,
    Event,
    QuestionAsked,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import TokenUsage, ToolResult, TurnMemory

DIFF = DiffDisplay(
    path="src/cart.py",
    hunks=(
        (
            DiffLine(sign=" ", number=31, text="def total(self) -> Money:"),
            DiffLine(sign=" ", number=32, text="    net = sum(line.net for line in self.lines)"),
            DiffLine(sign="-", number=33, text="    return self.discount(net + self.tax(net))"),
            DiffLine(sign="+", number=33, text="    # tax is due on what the customer pays"),
            DiffLine(sign="+", number=34, text="    net = self.discount(net)"),
            DiffLine(sign="+", number=35, text="    return net + self.tax(net)"),
        ),
    ),
    added=3,
    removed=1,
    total_lines=88,
)


def started(turn: int, text: str | None, *, attempt: int = 1, recovering: int = 0) -> TurnStarted:
    return TurnStarted(turn=turn, attempt=attempt, text=text, recovering=recovering)


def tool_started(turn: int, call: str, name: str, target: str) -> ToolStarted:
    return ToolStarted(turn=turn, id=call, name=name, arguments={}, target=target)


def tool_finished(
    turn: int, call: str, name: str, target: str, result: ToolResult, seconds: float = 0.004
) -> ToolFinished:
    return ToolFinished(
        turn=turn, id=call, name=name, arguments={}, target=target, result=result, seconds=seconds
    )


def tool(
    turn: int, call: str, name: str, target: str, result: ToolResult, seconds: float = 0.004
) -> list[Event]:
    """A call from start to end."""
    return [tool_started(turn, call, name, target), tool_finished(turn, call, name, target, result, seconds)]


def read(turn: int, call: str, path: str, lines: int) -> list[Event]:
    return tool(turn, call, "read_file", path, ToolResult(text="...", summary=f"{lines} lines"))


def edit(turn: int, call: str, path: str = "src/cart.py") -> list[Event]:
    result = ToolResult(text="ok", summary="+3 -1", display=DIFF, facts=(FileChanged(path=path),))
    return tool(turn, call, "edit_file", path, result)


def failing_bash(turn: int, call: str, command: str) -> list[Event]:
    result = ToolResult(
        text="1 failed",
        display=CommandDisplay(command=command, output="1 failed\n", exit_code=1),
        facts=(CommandFailed(command=command, exit_code=1),),
        exit_code=1,
    )
    return tool(turn, call, "bash", command, result, 1.4)


def done(
    turn: int,
    *,
    memory: TurnMemory | None = None,
    calls: int = 0,
    seconds: float = 5.0,
    carried: int = 400,
    trace: int = 38_400,
    attempt: int = 1,
) -> TurnDone:
    return TurnDone(
        turn=turn,
        attempt=attempt,
        reason="stop",
        text="done",
        turn_memory=memory or TurnMemory(),
        calls=calls,
        seconds=seconds,
        carried_bytes=carried,
        trace_bytes=trace,
    )


def incomplete(turn: int, *, calls: int = 4, attempt: int = 1) -> TurnIncomplete:
    memory = TurnMemory(
        files_changed=("src/cart.py",),
        failed_bash=(CommandFailed(command="pytest -q tests/test_cart.py", exit_code=1),),
    )
    return TurnIncomplete(
        turn=turn,
        attempt=attempt,
        reason="cut",
        detail="the connection was lost",
        text="",
        turn_memory=memory,
        calls=calls,
        seconds=41.0,
        trace_bytes=18_200,
    )


def approval(
    turn: int, call: str, *, grant: str | None = "allow all edits in this workspace for this session"
) -> Event:
    return ApprovalRequested(
        turn=turn,
        id=call,
        name="edit_file",
        arguments={},
        target="src/cart.py",
        question="Change src/cart.py?",
        why="every edit needs your approval in ask mode",
        display=DIFF,
        grant=grant,
    )


def question(turn: int, call: str) -> Event:
    choices = tuple(AnswerChoice(label=label) for label in ("SQLite", "Dbm"))
    other = AnswerChoice(label="something else", wants_words=True)
    return QuestionAsked(
        turn=turn, id=call, name="ask_user", question="Which database?", choices=(*choices, other)
    )


def failed(turn: int) -> TurnError:
    return TurnError(turn=turn, attempt=1, reason="provider", detail="no", seconds=1.0)


def three_turns() -> list[Event]:
    """Three finished turns."""
    events: list[Event] = [started(1, "set up the project"), *read(1, "a1", "pyproject.toml", 40)]
    events += [
        TextDelta(turn=1, step=1, text="Done."),
        done(1, calls=2, seconds=7.1, carried=200, trace=6_700),
    ]
    events += [started(2, "where is tax computed?"), *read(2, "b1", "src/tax.py", 60)]
    events += [
        TextDelta(turn=2, step=1, text="In `src/tax.py`."),
        done(2, calls=4, seconds=18, carried=300, trace=21_000),
    ]
    events += [started(3, "round totals once"), *edit(3, "c1", "src/money.py"), *edit(3, "c2")]
    text = "Totals are now rounded once, at the end. Money keeps four places until then; Cart only adds."
    events += [TextDelta(turn=3, step=1, text=f"{text} All 71 tests pass.")]
    memory = TurnMemory(files_changed=("src/money.py", "src/cart.py"))
    return [*events, done(3, memory=memory, calls=6, seconds=52)]


def discount_turn(turn: int = 4) -> list[Event]:
    """A turn up to its edit."""
    return [
        started(turn, "fix the failing discount test"),
        ReasoningDelta(turn=turn, step=1, text="Let me look.", seconds=6.0),
        TextDelta(turn=turn, step=1, text="I'll read the test and the code it covers, then run it once."),
        *read(turn, "d1", "tests/test_cart.py", 142),
        *read(turn, "d2", "src/cart.py", 88),
        *failing_bash(turn, "d3", "pytest -q tests/test_cart.py"),
        Usage(turn=turn, step=1, tokens=TokenUsage(input_tokens=9_800, output_tokens=600), cost=0.0412),
        ContextMeasured(tokens=10_400),
        TextDelta(turn=turn, step=2, text="**Found it.** The order is wrong, not the rounding."),
    ]


def running_bash(turn: int = 4) -> list[Event]:
    """A command in the middle of its output."""
    text = "".join(f"tests/test_{name}.py ......\n" for name in ("api", "cart", "money", "tax"))
    return [
        tool_started(turn, "d5", "bash", "pytest -q"),
        ToolOutput(turn=turn, id="d5", text=text, lines=11, bytes=600),
    ]
