"""The command about permissions: what was allowed here, and taking it back."""

from __future__ import annotations

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.questions.permissions import TAKE_BACK, permissions_question
from keen_tui.frontends.tui.workspace.view import WorkspaceView


async def permissions(view: WorkspaceView) -> None:
    """Show what runs unasked here beside the mode, and take a command back that was allowed for good."""
    choice = await view.ask(permissions_question(view.session.mode, view.session.permitted))
    if not choice.startswith(TAKE_BACK):
        return
    command = choice.removeprefix(TAKE_BACK)
    try:
        await view.session.take_back(command)
    except KeenError as error:
        view.say(str(error))
    else:
        view.say(f"{command} asks again.")
