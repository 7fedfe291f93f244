"""The search in earlier messages, and the draft of a message."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from textual.timer import Timer

from keen_tui.frontends.shared.port import PromptsPort
from keen_tui.frontends.tui.widgets.completing import fitting_messages
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_DRAFT_SECONDS: Final = 1.0
"""How much writing a crash may cost."""
_MOST_FOUND: Final = 100


class MessageSearch:
    """Finds what was sent, from here or from anywhere. Meanwhile the composer holds the words to look for."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view
        self._draft_before: str | None = None
        self.elsewhere: Sequence[str] = ()
        """Messages that were sent from other folders, oldest first."""

    @property
    def is_open(self) -> bool:
        """Whether earlier messages are looked through."""
        return self._draft_before is not None

    @property
    def draft(self) -> str:
        """The message being written. During a search it isn't in the composer."""
        return self._view.prompt.written if self._draft_before is None else self._draft_before

    def begin(self) -> None:
        """Offer the earlier messages that hold what is written."""
        self._draft_before = self._view.prompt.written
        self._view.prompt.is_sought = True
        self._view.prompt.focus()
        self.show()

    def show(self) -> None:
        """Offer the earlier messages that hold what is written now, the newest first."""
        view = self._view
        mine, others = reversed(view.prompt.sent), reversed(self.elsewhere)
        found = fitting_messages(view.prompt.text, chain(mine, others))
        view.offer(found[:_MOST_FOUND])
        if not found:
            view.say("No earlier message contains these words." if view.prompt.text else "Nothing sent yet.")

    def take(self) -> bool:
        """Put the chosen message into the composer; while there is none the search goes on."""
        if chosen := self._view.completions.chosen:
            self._view.prompt.keep(self._draft_before or "")
            self._end(chosen.text)
        return True

    def leave(self) -> None:
        """Back to what was written before."""
        self._end(self._draft_before or "")

    def _end(self, text: str) -> None:
        self._draft_before = None
        self._view.prompt.is_sought = False
        self._view.completions.close()
        self._view.prompt.restore(text)


class Drafts:
    """Saves text that the model didn't get for the next program, and brings it back.

    `_left_behind` is the draft of the last time, where it could not come back as something else was being
    written.
    """

    def __init__(self, view: WorkspaceView, search: MessageSearch) -> None:
        self._view = view
        self._search = search
        self._saving: Timer | None = None
        self._left_behind = ""

    def bring_back(self) -> None:
        """Get what was written before; a draft that was left behind comes back into the composer."""
        if prompts := self._view.prompts:
            self._view.work(self._bring_back(prompts), "prompts")

    def note_sent(self, text: str) -> None:
        """A message was sent."""
        if self._left_behind in text:
            self._left_behind = ""
        if prompts := self._view.prompts:
            prompts.sent(text)

    def keep_soon(self) -> None:
        """The draft has changed, or what waits for a turn: keep it in a moment."""
        if self._view.prompts and self._saving is None:
            self._saving = self._view.set_timer(_DRAFT_SECONDS, self.keep)

    def keep(self) -> None:
        """Keep the draft as it is now, behind the messages that wait for a turn."""
        self._saving = None
        if prompts := self._view.prompts:
            state = self._view.state
            unsent = (self._left_behind, *state.steered, *state.queue, self._search.draft)
            prompts.keep_draft(_joined(*unsent))

    async def _bring_back(self, prompts: PromptsPort) -> None:
        earlier = await prompts.earlier()
        prompt = self._view.prompt
        *lost, newest = ("", *earlier.drafts)
        is_writing = bool(prompt.written.strip())
        if is_writing:
            lost.append(newest)
            self._left_behind = newest
        prompt.remember((*earlier.here, *filter(None, lost)))
        self._search.elsewhere = earlier.elsewhere
        if newest and is_writing:
            self._view.say("Your unsent message from last time is kept: press up in an empty composer.")
        elif newest:
            prompt.restore(newest)
            self._view.say("Your unsent message is back.")


def _joined(*texts: str) -> str:
    return "\n".join(filter(str.strip, texts))
