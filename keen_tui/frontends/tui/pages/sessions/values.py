"""The results of the screen of saved sessions."""

from __future__ import annotations

from msgspec import Struct

from keen_tui.domain.reports import SavedSession


class Chosen(Struct, frozen=True):
    """The session to go on with, the turn that was found in it, 0 for none, and the words it was found by.

    `fork`: go on with a copy of it, up to and with that turn (0: of all).
    """

    session: SavedSession
    turn: int = 0
    fork: bool = False
    words: str = ""
