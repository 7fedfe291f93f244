"""The result of a command that ended: a text for the model, a few words for the person."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import ToolResult
from keen_tui.tools.process.process import Ended

SUMMARY_CELLS = 24
_MOST_REFUSALS = 5


def command_result(
    command: str,
    output: str,
    ended: Ended,
    timeout: float | None = None,
    *,
    sandboxed: bool = False,
    refused: Sequence[str] = (),
    background: bool = False,
) -> ToolResult:
    """The result of a command. `timeout` is its limit in seconds; `refused` are the hosts that it couldn't
    reach, with reasons; `background` says that it starts something without waiting for it."""
    return ToolResult(
        text="\n".join((output or "(no output)", *_refusals(refused), *_notes(ended, timeout, background))),
        summary=_summary(output, ended),
        display=CommandDisplay(command=command, output=output, exit_code=ended.code),
        facts=(CommandFailed(command=command, exit_code=ended.code),) if ended.code else (),
        exit_code=ended.code,
        sandboxed=sandboxed,
    )


def _refusals(refused: Sequence[str]) -> list[str]:
    """Returns the lines for the model about refused hosts."""
    more = len(refused) - _MOST_REFUSALS
    shown = [f"[no network to {each}]" for each in refused[:_MOST_REFUSALS]]
    return [*shown, f"[and {more} more hosts]"] if more > 0 else shown


def _notes(ended: Ended, timeout: float | None, background: bool) -> list[str]:
    """The lines for the model after the output; a failure always ends with the exit code."""
    notes: list[str] = []
    if ended.timed_out:
        notes.append(f"[timed out after {timeout} s: it was killed with all its processes]")
    elif ended.left_running:
        notes.append("[a process was still running in the background and was killed]")
    elif ended.left_running is None and background:
        notes.append("[what it left in the background ended with it]")
    if name := _signal_name(ended.code - 128):
        notes.append(f"[killed by {name}]")
    if ended.code:
        notes.append(f"[exit code {ended.code}]")
    return notes


def _signal_name(number: int) -> str:
    """The name of a signal; "" for an unknown number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def _summary(output: str, ended: Ended) -> str:
    if ended.timed_out:
        return "timed out"
    if ended.code:
        return f"exit {ended.code}"
    last = output.rstrip().rpartition("\n")[2].strip(" =-")
    if last and len(last) <= SUMMARY_CELLS:
        return last
    count = len(output.splitlines())
    return "1 line" if count == 1 else f"{count} lines" if count else "no output"
