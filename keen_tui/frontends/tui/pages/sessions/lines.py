"""The rows of the list: sessions, or places in them where words were found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

from msgspec import Struct

from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class SessionHeading(Struct, frozen=True):
    """A session above the places that were found in it."""

    session: SavedSession


class Chosen(Struct, frozen=True):
    """The session to go on with, the turn that was found in it, 0 for none, and the words it was found by.

    `fork`: go on with a copy of it, up to and with that turn (0: of all).
    """

    session: SavedSession
    turn: int = 0
    fork: bool = False
    words: str = ""


SessionLine = SavedSession | SearchHit | SessionHeading | None
"""One row; None is a blank one."""


def session_of(line: SessionLine) -> SavedSession | None:
    """The session that a line is about."""
    return line if line is None or isinstance(line, SavedSession) else line.session


def identity(line: SessionLine) -> object:
    """What a line stands for, though a title or a time may have changed."""
    return line.id if isinstance(line, SavedSession) else line


def with_title(sessions: Sequence[SavedSession], query: str) -> list[SavedSession]:
    """The sessions in whose title every word of the query stands, in their order."""
    words = query.casefold().split()
    if not words:
        return list(sessions)
    return [session for session in sessions if _holds(session.title.casefold(), words)]


def under_headings(hits: Iterable[SearchHit]) -> list[SessionLine]:
    """The places one after the other, each session named once above its own."""
    lines: list[SessionLine] = []
    for _, places in groupby(hits, key=lambda hit: hit.session.id):
        found = list(places)
        lines += [None] if lines else []
        lines += [SessionHeading(found[0].session), *found]
    return lines


def shown_title(session: SavedSession) -> str:
    """The title, safe to draw; words in its place where there is none."""
    return clean(session.title).strip() or "nothing said yet"


def when(then: float, now: float) -> str:
    """`just now`, `12 min ago`, `2 h ago`, `yesterday`, `3 days ago`, from a week on `2026-03-12`."""
    passed = now - then
    if passed < _MINUTE:
        return "just now"
    if passed < _HOUR:
        return f"{int(passed // _MINUTE)} min ago"
    if passed < _DAY:
        return f"{int(passed // _HOUR)} h ago"
    if passed < 7 * _DAY:
        days = int(passed // _DAY)
        return "yesterday" if days == 1 else f"{days} days ago"
    return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d")


def count_words(shown: int, total: int) -> str:
    """`12 sessions`, or `3 of 12 sessions`."""
    return counted(total, "session") if shown == total else f"{shown:,} of {counted(total, 'session')}"


def _holds(title: str, words: Sequence[str]) -> bool:
    return all(word in title for word in words)
