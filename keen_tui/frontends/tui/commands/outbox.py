"""Takes a message from the composer: sends it, steers the turn with it, or runs it as a command."""

from __future__ import annotations

from collections.abc import Sequence

from keen_tui.domain.errors import KeenError, SessionRefused
from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.commands.slash import Called, PromptCall
from keen_tui.frontends.tui.commands.models import ModelPages
from keen_tui.frontends.tui.commands.switch import SessionSwitch
from keen_tui.frontends.tui.widgets.composer import SHELL_SIGN
from keen_tui.frontends.tui.workspace.recall import Drafts
from keen_tui.frontends.tui.workspace.view import WorkspaceView
from keen_tui.settings.added.custom_commands import CustomCommand

_FILLING_IN = "server prompt"


class Outbox:
    """Takes what was written. What can't be sent comes back into the composer."""

    def __init__(
        self, view: WorkspaceView, drafts: Drafts, models: ModelPages, sessions: SessionSwitch
    ) -> None:
        self._view = view
        self._drafts = drafts
        self._models = models
        self._sessions = sessions
        self._filled_in = ""
        """The command line of the prompt that a server is filling in, "" for none."""

    def send(self, text: str) -> None:
        """Do what the message says."""
        is_user_command = text.startswith(SHELL_SIGN)
        called = None if is_user_command else self._view.commands.called(text)
        if self._sessions.is_replacing and (called is None or called.is_sent):
            self._sessions.hold(text)
            return
        self._drafts.note_sent(text)
        if is_user_command:
            self._run_user_command(text)
        elif called is None:
            self._submit(text, text)
        else:
            self._call(called, text)

    def steer(self, words: str = "") -> None:
        """Send what is written, else the oldest queued message: into the running turn, or as a turn of its
        own."""
        view = self._view
        text = words or view.prompt.written
        if text.strip() and not words:
            view.prompt.put_away()
        is_call = text.startswith(SHELL_SIGN) or view.commands.called(text) is not None
        is_waiting = view.session.queue and (view.state.turn_running or not view.state.running)
        if not text.strip() and not is_waiting:
            view.say("Write a message for the running turn first.")
        elif self._models.lacks_model or is_call:
            self.send(text)
        else:
            if not words:
                self._drafts.note_sent(text)
            view.attempt(lambda: view.controls.steer(text))

    def offer_command(self, name: str) -> None:
        """Send a command of one's own, or have its words written first where it takes some, as each skill
        does."""
        called = self._view.commands.called(f"/{name}")
        if called is None or called.message is None:
            return
        if isinstance(called.what, CustomCommand) and not called.what.hint:
            self._submit(called.message, f"/{name}")
        else:
            self._view.prompt.write(f"/{name} ")

    def edit_queued(self) -> None:
        """The newest queued message goes back into the composer."""
        view = self._view
        if view.session.queue and (text := view.controls.withdraw_queued()) is not None:
            view.prompt.write_before(text)

    def give_back(self, queued: Sequence[str]) -> None:
        """Put what was queued in the session before this one into the composer."""
        self._view.prompt.write_before("\n".join(queued))
        messages = "message is" if len(queued) == 1 else "messages are"
        self._view.said.say_too(f"Your queued {messages} back in the composer.")

    def _call(self, called: Called, typed: str) -> None:
        view = self._view
        if refusal := view.commands.refusal(called):
            view.prompt.write(typed)
            view.say(refusal)
            return
        if isinstance(called.what, Action):
            view.run(called.what.id, called.words)
            view.prompt.suggest_again()
        elif isinstance(called.what, PromptCall):
            self.take_back()
            self._filled_in = typed
            view.work(self._send_prompt(called.what, typed), _FILLING_IN)
        elif called.message is not None:
            self._submit(called.message, typed)

    def take_back(self) -> bool:
        """Wait no longer for a server's prompt: what was typed for it comes back, before what is written now
        as mere words. False: none is awaited."""
        typed, self._filled_in = self._filled_in, ""
        if typed:
            self._view.cancel_work(_FILLING_IN)
            prompt = self._view.prompt
            (prompt.write_before if prompt.text.strip() else prompt.write)(typed)
        return bool(typed)

    async def _send_prompt(self, call: PromptCall, typed: str) -> None:
        """Send the text of a server's prompt, unless another session was opened meanwhile."""
        from keen_tui.frontends.tui.pages.models.checking import told  # noqa: PLC0415 - not before the first paint

        view, session_id = self._view, self._view.state.session_id
        try:
            text = await told(call.text(), "the MCP server", view.say)
        except KeenError as refused:
            self.take_back()
            view.say(str(refused))
            return
        if self._sessions.is_replacing or (session_id and view.state.session_id != session_id):
            self.take_back()
            view.say("Another session was opened in the meantime. The prompt wasn't sent.")
            return
        self._filled_in = ""
        view.say("")
        self._submit(text, typed)

    def _submit(self, text: str, typed: str) -> None:
        """Send the text. What was `typed` for it comes back where it can't be sent."""
        view = self._view
        if self._models.lacks_model:
            view.prompt.write(typed)
            self._models.begin()
        else:
            view.prompt.suggested = ""
            view.transcript.action_scroll_end()
            view.attempt(lambda: view.controls.submit(text))

    def _run_user_command(self, typed: str) -> None:
        """Run what was `typed` behind the sign. Where it can't be run it comes back."""
        view, command = self._view, typed.removeprefix(SHELL_SIGN).strip()
        if not command:
            view.prompt.write(typed)
            view.say("Write a command after the !, for example !git status")
            return
        try:
            view.controls.run_own(command)
        except SessionRefused as refused:
            view.prompt.write(typed)
            view.say(str(refused))
        else:
            view.transcript.action_scroll_end()
