"""Notes of the user."""

from __future__ import annotations

from keen_tui.domain.facts.remembered import Remembered


class Note(Remembered, frozen=True):
    """A note that the user added. No tool reports it."""

    FIELD = "notes"
    VALUE = "text"
    LINE = "Note: {text}"
    TEXT = "{text}"
    SIGN = "•"
    LABEL = "noted: "

    text: str

    @property
    def reported(self) -> tuple[()]:
        return ()
