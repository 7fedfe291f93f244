"""The command about permissions: shows what runs without asking, and revokes it."""

from __future__ import annotations

from typing import cast, get_args

from keen_tui.domain.choices import Mode
from keen_tui.frontends.shared.commands.command import Command, CommandContext


async def permissions(context: CommandContext, words: str) -> None:
    """Show what runs without asking, and revoke what was allowed permanently."""
    from keen_tui.frontends.shared.questions import TAKE_BACK, PermissionsQuestion

    session = context.session
    choice = await context.ui.ask(PermissionsQuestion(session.mode, session.permitted))
    if choice in get_args(Mode):
        context.controls.set_mode(cast(Mode, choice))
    elif choice.startswith(TAKE_BACK):
        command = choice.removeprefix(TAKE_BACK)
        await context.controls.take_back(command)
        context.ui.say(f"{command} asks again.")


PERMISSIONS = Command(
    id="permissions",
    keys=(),
    label="Permissions",
    slash=("permissions",),
    help="shows what runs without asking, by mode, rules and your answers; revokes an answer",
    does=permissions,
)
COMMANDS = (PERMISSIONS,)
