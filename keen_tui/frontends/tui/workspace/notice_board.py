"""The sentence above the composer."""

from __future__ import annotations

from collections.abc import Callable

from keen_tui.frontends.tui.widgets.notes import NoticeRows


class NoticeBoard:
    """Says sentences in these rows until the next key. `make_room` is called when the rows have changed."""

    def __init__(self, rows: NoticeRows, make_room: Callable[[], None]) -> None:
        self._rows = rows
        self._make_room = make_room
        self._said_in_turn = ""

    @property
    def text(self) -> str:
        """The sentence, "" for none."""
        return self._rows.text

    def say(self, text: str) -> None:
        """Show this, and nothing else."""
        if text != self._rows.text:
            self._rows.text = text
            self._make_room()

    def say_in_turn(self, text: str) -> None:
        """Say it, and not beyond the end of what runs."""
        self._said_in_turn = text
        self.say(text)

    def say_too(self, text: str) -> None:
        """Show what happened beside what stands there unread: no key was pressed since."""
        unread = self.text
        self.say(f"{unread} {text}" if unread and text not in unread else text)

    def withdraw(self, sentence: str) -> None:
        """Show it no longer: it isn't true any more."""
        if sentence and sentence in self.text:
            self.say(self.text.replace(sentence, "").replace("  ", " ").strip())

    def end_turn(self) -> None:
        """Withdraw the sentence that was meant only for the time of the turn."""
        self.withdraw(self._said_in_turn)
        self._said_in_turn = ""
