"""Texts for the model about commands in the background."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import ToolResult
from keen_tui.text.units import counted
from keen_tui.tools.background.task_record import OutputPiece
from keen_tui.tools.background.tasks import BackgroundTask

_LONGEST_COMMAND = 300


def started_result(task: BackgroundTask, apart: str = "") -> ToolResult:
    """The result of the call that started the command, with its output so far. `apart` is the reason why no
    other command reaches its ports, "" if others do."""
    output = task.output.since(0)
    if not task.running:
        return _ended_result(task, output)
    result = _running_result(task, output, f"it runs in the background as {task.id}")
    if not apart:
        return result
    alone = f"other commands can't reach its local ports here ({apart})"
    advice = "test a server in the command that starts it"
    return replace(result, text=f"{result.text}\n[{alone}: {advice}]")


def moved_result(task: BackgroundTask) -> ToolResult:
    """The result of a call whose command the user has moved to the background."""
    words = f"the user moved it to the background, where it runs as {task.id} without a time limit"
    return _running_result(task, task.output.since(0), words)


def _running_result(task: BackgroundTask, output: OutputPiece, words: str) -> ToolResult:
    note = f"[{words}: task_output shows what it prints, task_stop ends it]"
    return ToolResult(
        text=f"{_shown(task, output)}\n{note}",
        summary=f"runs as {task.id}",
        display=CommandDisplay(command=task.command, output=output.text.strip("\n"), exit_code=None),
    )


def output_result(task: BackgroundTask, since: int, *, was_told: bool) -> ToolResult:
    """The result of a call that reads its output. A failure of which the model wasn't told is a fact of the
    call."""
    output = task.output.since(since)
    text = f"[{task.id} {task.state}: {task.command[:_LONGEST_COMMAND]}]\n{_shown(task, output)}"
    if task.running:
        text += f"\n[since={output.end} shows what comes next]"
    lines = output.text.count("\n")
    return ToolResult(
        text=text,
        summary=f"{task.id} {'runs' if task.running else 'has ended'}, {counted(lines, 'new line')}",
        display=CommandDisplay(
            command=task.command, output=output.text.strip("\n"), exit_code=task.exit_code
        ),
        facts=() if was_told else failures((task,)),
    )


def news(running: Sequence[BackgroundTask], ended: Sequence[BackgroundTask], notes: Sequence[str]) -> str:
    """The text that goes with a request: commands that run, commands that have ended, and notes. "" for
    none."""
    rows = [f"{task.id} {task.state}, since {_began(task)}: {_command(task)}" for task in running]
    rows += [f"{task.id} {task.state}: {_command(task)}" for task in ended]
    rows += notes
    return "\n".join(("[Commands in the background, as Keen sees them:", *rows, "]")) if rows else ""


def failures(tasks: Sequence[BackgroundTask]) -> tuple[CommandFailed, ...]:
    """A fact for each command that failed."""
    return tuple(
        CommandFailed(command=task.command, exit_code=task.exit_code or 1) for task in tasks if task.failed
    )


def _ended_result(task: BackgroundTask, output: OutputPiece) -> ToolResult:
    code = task.exit_code
    return ToolResult(
        text=f"{_shown(task, output)}\n[it {task.state}]",
        summary=f"exit {code}" if code else "ended at once",
        display=CommandDisplay(command=task.command, output=output.text.strip("\n"), exit_code=code),
        facts=failures((task,)),
        exit_code=code,
        left_behind=task.left_behind,
    )


def _shown(task: BackgroundTask, output: OutputPiece) -> str:
    file = f"; {task.output.file}" if task.output.file else ""
    before = f"[… {output.left_out:,} bytes left out{file} …]\n" if output.left_out else ""
    return before + (output.text.strip("\n") or "(no new output)")


def _began(task: BackgroundTask) -> str:
    return f"turn {task.turn}" if task.turn else "before this session"


def _command(task: BackgroundTask) -> str:
    return task.command[:_LONGEST_COMMAND]
