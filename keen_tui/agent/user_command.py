"""A command of the user's own, from its start to its end."""

from __future__ import annotations

import secrets

from keen_tui.agent.turn.calls import failed_result
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.events import ShellFinished, ShellStarted, ToolOutput


async def run_own_command(turn: int, command: str, setup: TurnSetup) -> None:
    """Run it and publish what comes of it. `turn` is the newest turn. Cancelling stops the command."""
    call_id = f"shell-{secrets.token_hex(4)}"
    setup.publish(ShellStarted(turn=turn, id=call_id, command=command))
    started_at = setup.clock()

    def show(text: str, lines: int, size: int) -> None:
        setup.publish(ToolOutput(turn=turn, id=call_id, text=text, lines=lines, bytes=size))

    try:
        result = await setup.toolbox.own_commands.run(command, show)
    except Exception as error:
        result = failed_result(error, ran=True)
    seconds = setup.clock() - started_at
    setup.publish(ShellFinished(turn=turn, id=call_id, command=command, result=result, seconds=seconds))
