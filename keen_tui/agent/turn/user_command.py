"""Runs a command of the user."""

from __future__ import annotations

import asyncio
import secrets

from msgspec.structs import replace

from keen_tui.agent.turn.calls import NOT_RUN, failed_result, with_changes
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import ShellFinished, ShellStarted, ToolOutput
from keen_tui.system.threads import in_thread_to_the_end


async def run_own_command(turn: int, command: str, setup: TurnSetup, *, is_check: bool = False) -> None:
    """Run the command and publish its output and its end. `turn` is the newest turn. Cancelling stops it."""
    call_id = f"shell-{secrets.token_hex(4)}"
    watch = setup.toolbox.watch
    setup.publish(ShellStarted(turn=turn, id=call_id, command=command, is_check=is_check))
    started_at = setup.clock()

    def show(text: str, lines: int, size: int) -> None:
        setup.publish(ToolOutput(turn=turn, id=call_id, text=text, lines=lines, bytes=size))

    try:
        if watch:
            await asyncio.to_thread(watch.begin)
        result = await setup.toolbox.own_commands.run(command, show)
    except asyncio.CancelledError:
        result = NOT_RUN
    except Exception as error:
        result = failed_result(error, ran=True)
    seconds = setup.clock() - started_at
    if watch:
        changes = await in_thread_to_the_end(lambda: watch.end(keeps=False))
        result = with_changes(result, replace(changes, facts=()))
    setup.publish(
        ShellFinished(
            turn=turn, id=call_id, command=command, result=result, seconds=seconds, is_check=is_check
        )
    )
