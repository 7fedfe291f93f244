"""The part of the workspace that is about permissions: what was allowed here, and taking it back."""

from __future__ import annotations

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.questions.permissions import TAKE_BACK, permissions_question
from keen_tui.frontends.tui.workspace.stage import Stage


class PermissionActions(Stage):
    """Shows what was allowed beside the mode, and takes commands back that were allowed for good."""

    def action_permissions(self) -> None:
        """Show what runs unasked here, and offer to take it back."""
        self.ask(permissions_question(self.session.mode, self.session.permitted))

    def answer_permissions(self, choice: str) -> None:
        """Take a command back, or nothing."""
        self.close_question()
        if choice.startswith(TAKE_BACK):
            command = choice.removeprefix(TAKE_BACK)
            self.run_worker(self._ask_again(command), name="take-back", exit_on_error=False)

    async def _ask_again(self, command: str) -> None:
        try:
            await self.session.take_back(command)
        except KeenError as error:
            self.say(str(error))
        else:
            self.say(f"{command} asks again.")
