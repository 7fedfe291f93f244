"""A list of saved sessions to choose from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.line.questions import CANCEL, LineQuestion
from keen_tui.frontends.shared.commands.sessions import open_session
from keen_tui.frontends.shared.pages import SessionsPage
from keen_tui.frontends.shared.questions import Choice
from keen_tui.text.units import counted

if TYPE_CHECKING:
    from keen_tui.frontends.line.ui import LineUi

_MOST = 15
"""The most sessions in one list."""


async def choose_session(ui: LineUi, page: SessionsPage) -> None:
    """Choose among the saved sessions of this folder, all of them or those with the words."""
    own, rows = page.history.session_id, await page.history.sessions()
    found = [row for row in rows if row.id != own and _fits(row, page.words)]
    if not found:
        raise SessionRefused(
            "No such session in this folder." if page.words else "There is no other session."
        )
    choices = tuple(_choice(row) for row in found[:_MOST])
    lines = ["Question: Which session do you want to open?"]
    if len(found) > _MOST:
        lines.append(f"The newest {_MOST} of {len(found)}. /resume WORDS finds others.")
    chosen = await ui.choice(LineQuestion(lines=tuple(lines), choices=(*choices, CANCEL)))
    for row in found:
        if row.id == chosen:
            await open_session(ui.context, row, shown_title(row))


def shown_title(row: SavedSession) -> str:
    """The name of the session in a question."""
    return row.title or "that session"


def _fits(row: SavedSession, words: str) -> bool:
    return row.id.startswith(words) or all(word in row.title.casefold() for word in words.casefold().split())


def _choice(row: SavedSession) -> Choice:
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.last_used))
    facts: Sequence[str] = (counted(row.turns, "turn"), f"last used {used}", *_troubles(row))
    return Choice(id=row.id, label=row.title or "untitled", consequence=", ".join(facts))


def _troubles(row: SavedSession) -> list[str]:
    return [row.problem.rstrip(".")] if row.problem else ["open in another program"] if row.in_use else []
