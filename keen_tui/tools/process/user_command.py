"""Runs a command of the user: as the user, in the user's own environment, without a time limit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult
from keen_tui.system.child_environment import api_keys, key_variables, own_environment
from keen_tui.system.executables import find_program
from keen_tui.system.threads import in_thread_to_the_end
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.process.command_output import CommandOutput
from keen_tui.tools.process.command_result import command_result
from keen_tui.tools.process.process import Ended, run_command
from keen_tui.tools.sandbox.base import Launch

STOPPED = "[stopped by the user]"


class OwnCommands:
    """Runs commands with `bash -c` (or `sh -c`) in `folder`. `new_output_file` names files for output that is
    too long for a result. `key_variables` has further names of variables with API keys, besides those whose
    name says so: commands don't get them, and their values are removed from the output."""

    def __init__(
        self,
        folder: Path,
        new_output_file: Callable[[], Path | None],
        key_variables: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._folder = folder
        self._new_output_file = new_output_file
        self._key_variables = key_variables
        self._shell = find_program("bash") or find_program("sh") or "/bin/sh"

    async def run(self, command: str, on_output: OutputSink) -> ToolResult:
        """Run a command to its end. Nobody can answer it: standard input is empty and there is no terminal.

        Cancelling ends it with all its processes; this counts as a normal end, and the result says so.

        Raises:
            ToolFailure: the command can't be started.
        """
        hidden = key_variables(os.environ, self._key_variables())
        output = CommandOutput(on_output, self._new_output_file, api_keys(os.environ, hidden))
        ended: Ended | None = None
        launch = Launch(argv=(self._shell, "-c", command), environ=own_environment(os.environ, hidden))
        try:
            ended = await run_command(launch, folder=self._folder, timeout=None, on_output=output.feed)
        except asyncio.CancelledError:
            pass
        except (OSError, ValueError) as error:
            raise ToolFailure(f"the command can't be started in {self._folder}: {error}.") from error
        finally:
            output.end()
        text = await in_thread_to_the_end(output.text)
        return _stopped(command, text) if ended is None else command_result(command, text, ended)


def _stopped(command: str, output: str) -> ToolResult:
    return ToolResult(
        text="\n".join(filter(None, (output, STOPPED))),
        summary="stopped",
        display=CommandDisplay(command=command, output=output, exit_code=None),
        interrupted=True,
    )
