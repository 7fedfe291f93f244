"""The part of the workspace that remembers what is written: the history, its search, the draft."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from textual.timer import Timer

from keen_tui.frontends.tui.widgets.completing import Completion, fitting_messages
from keen_tui.frontends.tui.workspace.stage import Stage

_DRAFT_SECONDS: Final = 1.0
"""How much writing a crash may cost."""
_MOST_FOUND: Final = 100


class RememberingActions(Stage):
    """Walks through what was sent from here, finds what was sent from anywhere, keeps what was not sent.

    While earlier messages are looked through, the composer holds the words to look for and `_draft_before`
    what stood there.
    """

    _draft_before: str | None = None
    _elsewhere: Sequence[str] = ()
    _saving: Timer | None = None
    _left_behind = ""
    """The draft of the last time, where it could not come back as something else was being written."""

    def remember(self) -> None:
        """Get what was written before; a draft that was left behind comes back into the composer."""
        if self.prompts:
            self.run_worker(self._remember(), name="prompts")

    def note_sent(self, text: str) -> None:
        """A message was sent."""
        if self._left_behind in text:
            self._left_behind = ""
        if self.prompts:
            self.prompts.sent(text)

    def keep_draft_soon(self) -> None:
        """The draft has changed: keep it in a moment."""
        if self.prompts and self._saving is None:
            self._saving = self.set_timer(_DRAFT_SECONDS, self.keep_draft)

    def keep_draft(self) -> None:
        """Keep the draft as it is now."""
        self._saving = None
        if self.prompts:
            text = self.prompt.written if self._draft_before is None else self._draft_before
            self.prompts.keep_draft(_joined(self._left_behind, text))

    @property
    def is_searching(self) -> bool:
        """Whether earlier messages are looked through."""
        return self._draft_before is not None

    def begin_search(self) -> None:
        """Offer the earlier messages that hold what is written."""
        self._draft_before = self.prompt.written
        self.prompt.focus()
        self.show_found()

    def show_found(self) -> None:
        """Offer the earlier messages that hold what is written now, the newest first."""
        mine, others = reversed(self.prompt.sent), reversed(self._elsewhere)
        found = fitting_messages(self.prompt.text, chain(mine, others))
        self.offer(found[:_MOST_FOUND])
        if not found:
            self.say("No earlier message holds these words." if self.prompt.text else "Nothing was sent yet.")

    def take_found(self) -> bool:
        """Put the chosen message into the composer; while there is none the search goes on."""
        if chosen := self.completions.chosen:
            self.prompt.keep(self._draft_before or "")
            self._end_search(chosen.text)
        return True

    def leave_search(self) -> None:
        """Back to what was written before."""
        self._end_search(self._draft_before or "")

    def offer(self, found: Sequence[Completion], *, runs: bool = False) -> None:
        """Show these directly above the composer."""
        self.completions.styles.margin = (0, 0, self.composer.outer_size.height, 0)
        self.completions.show(found, runs=runs)

    def _end_search(self, text: str) -> None:
        self._draft_before = None
        self.completions.close()
        self.prompt.restore(text)

    async def _remember(self) -> None:
        assert self.prompts
        earlier = await self.prompts.earlier()
        *lost, newest = ("", *earlier.drafts)
        is_writing = bool(self.prompt.written.strip())
        if is_writing:
            lost.append(newest)
            self._left_behind = newest
        self.prompt.remember((*earlier.here, *filter(None, lost)))
        self._elsewhere = earlier.elsewhere
        if newest and is_writing:
            self.say("Your unsent message from last time is kept: press up in an empty composer.")
        elif newest:
            self.prompt.restore(newest)
            self.say("Your unsent message is back.")


def _joined(*texts: str) -> str:
    return "\n".join(filter(str.strip, texts))
