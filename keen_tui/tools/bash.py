"""bash: a shell command in the workspace."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from typing import Any

from keen_tui.display import CommandDisplay
from keen_tui.errors import ToolFailure
from keen_tui.messages import CommandFailed, ToolResult, ToolSpec
from keen_tui.tools.arguments import checked
from keen_tui.tools.base import Access, OutputSink, PreparedCall
from keen_tui.tools.captured import CapturedOutput, cleaned
from keen_tui.tools.process import Ended, child_environment, run_command
from keen_tui.tools.workspace import Workspace

DEFAULT_TIMEOUT = 120
LONGEST_TIMEOUT = 600
LIVE_INTERVAL = 0.1
"""Seconds between two pieces of live output."""

LIVE_BYTES = 4_000
"""Newest bytes of output that one piece of live output shows."""

SUMMARY_CELLS = 24


class Bash:
    """Runs a command with `bash -c` (or `sh -c`), always from the workspace root."""

    spec = ToolSpec(
        name="bash",
        description=(
            "Run a shell command. It starts in the workspace root each time: cd, variables and functions "
            "do not last from one command to the next. Standard input is empty and no terminal is there, so "
            "use options that never ask. Background processes end with the command. Output is stdout and "
            "stderr in order; of long output the beginning and the end are kept."
        ),
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "What to run."},
                "timeout": {
                    "type": "integer",
                    "description": f"Seconds, {DEFAULT_TIMEOUT} unless given, at most {LONGEST_TIMEOUT}.",
                },
            },
            "required": ["command"],
        },
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._shell = shutil.which("bash") or shutil.which("sh") or "/bin/sh"

    def target(self, arguments: Mapping[str, Any]) -> str:
        return str(arguments.get("command", ""))

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        command, timeout = given["command"], given.get("timeout", DEFAULT_TIMEOUT)
        if not command.strip() or "\0" in command:
            raise ToolFailure("bash: the command is empty, or holds a NUL character.")
        if not 1 <= timeout <= LONGEST_TIMEOUT:
            raise ToolFailure(f"bash: timeout must be from 1 to {LONGEST_TIMEOUT} seconds.")

        async def run(on_output: OutputSink) -> ToolResult:
            return await self._run(command, timeout, on_output)

        return PreparedCall(
            access=Access(kind="command", subject=command),
            display=CommandDisplay(command=command, output="", exit_code=None),
            run=run,
        )

    async def _run(self, command: str, timeout: int, on_output: OutputSink) -> ToolResult:
        captured = CapturedOutput()
        live = _LiveOutput(captured, on_output)
        try:
            ended = await run_command(
                (self._shell, "-c", command),
                folder=self._workspace.root,
                environ=child_environment(os.environ),
                timeout=timeout,
                on_output=live.feed,
            )
        except OSError as error:
            raise ToolFailure(f"bash can't start in {self._workspace.root}: {error.strerror}.") from error
        finally:
            live.close()
        return _result(command, captured.text().strip("\n"), ended, timeout)


class _LiveOutput:
    """Passes new output on, at most every LIVE_INTERVAL and never much later."""

    def __init__(self, captured: CapturedOutput, on_output: OutputSink) -> None:
        self._captured = captured
        self._on_output = on_output
        self._new = b""
        self._due: asyncio.TimerHandle | None = None

    def feed(self, chunk: bytes) -> None:
        self._captured.feed(chunk)
        self._new = (self._new + chunk)[-LIVE_BYTES:]
        if self._due is None:
            self._show()
            self._due = asyncio.get_running_loop().call_later(LIVE_INTERVAL, self._again)

    def close(self) -> None:
        """Pass on the rest."""
        self._show()
        if self._due:
            self._due.cancel()

    def _again(self) -> None:
        self._due = None
        self._show()

    def _show(self) -> None:
        if self._new:
            self._on_output(cleaned(self._new), self._captured.line_count, self._captured.bytes)
            self._new = b""


def _result(command: str, output: str, ended: Ended, timeout: int) -> ToolResult:
    note = _note(ended, timeout)
    return ToolResult(
        text="\n".join(filter(None, (output or "(no output)", note))),
        summary=f"exit {ended.code}" if ended.code else _last_line(output),
        display=CommandDisplay(command=command, output=output, exit_code=ended.code),
        facts=(CommandFailed(command=command, exit_code=ended.code),) if ended.code else (),
        exit_code=ended.code,
    )


def _note(ended: Ended, timeout: int) -> str:
    if ended.timed_out:
        return f"[timed out after {timeout} s and was killed, exit code 124]"
    notes = []
    if ended.left_running:
        notes.append("[a process was still running in the background and was ended]")
    if ended.code > 128:
        notes.append(f"[killed by {_signal_name(ended.code - 128)}, exit code {ended.code}]")
    elif ended.code:
        notes.append(f"[exit code {ended.code}]")
    return "\n".join(notes)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(output: str) -> str:
    last = output.rstrip().rsplit("\n", 1)[-1].strip(" =-")
    return (
        last if last and len(last) <= SUMMARY_CELLS else f"{len(output.splitlines())} lines" if output else ""
    )
