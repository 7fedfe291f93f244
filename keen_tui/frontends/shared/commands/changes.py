"""The commands about changes: reading them, undoing them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept
from keen_tui.frontends.shared.pages import ChangesPage

if TYPE_CHECKING:
    from keen_tui.domain.reports import Changes
    from keen_tui.frontends.shared.changes import ShownFile
    from keen_tui.frontends.shared.port import ChangesPort

_WHOLE_SESSION, _NEWEST = 0, -1


async def diff(context: CommandContext, words: str) -> None:
    """Show what a turn changed, or the session."""
    port, turn = _port(context), _turn("diff", words, _WHOLE_SESSION)
    changes = await port.changes(turn)
    await context.ui.show(ChangesPage(changes, await _shown(changes)))


async def undo(context: CommandContext, words: str) -> None:
    """Ask whether to undo what a turn changed."""
    from keen_tui.frontends.shared.questions import UndoQuestion

    if context.session.running:
        raise SessionRefused("A turn is running. Stop it first, then undo.")
    if context.session.pending:
        raise SessionRefused("Finish the last turn first: retry or discard it, then undo.")
    port, turn = _port(context), _turn("undo", words, _NEWEST)
    changes = await port.changes(turn)
    if changes.undone:
        raise SessionRefused(f"The changes of turn {changes.turn} are already undone.")
    if await context.ui.ask(UndoQuestion(changes, await _shown(changes))) == "yes":
        context.ui.say(await port.undo(changes.turn))


def _port(context: CommandContext) -> ChangesPort:
    return kept(context.setup.changes, "Changes aren't recorded here.")


def _turn(command: str, words: str, usual: int) -> int:
    """The turn that was written behind the command, else the usual one."""
    if words and not (words.isdecimal() and int(words)):
        raise WordsRefused(f"/{command} takes the number of a turn, or no argument.")
    return int(words) if words else usual


async def _shown(changes: Changes) -> Sequence[ShownFile]:
    """The changed files. Raises SessionRefused: there are none."""
    from keen_tui.frontends.shared.changes import shown_files

    if changes.files:
        return await asyncio.to_thread(shown_files, changes)
    whose = f"Turn {changes.turn}" if changes.turn else "This session"
    untracked = " Keen doesn't track changes made by commands here, so they can't be undone."
    raise SessionRefused(f"{whose} changed no files.{untracked if changes.unwatched else ''}")


DIFF = Command(
    id="diff",
    keys=(),
    label="Changes",
    slash=("diff", "changes"),
    takes="[turn]",
    help="shows what this session changed, file by file, or a turn: /diff 3",
    restarts=True,
    does=diff,
)
UNDO = Command(
    id="undo",
    keys=(),
    label="Undo the changes of a turn",
    slash=("undo",),
    takes="[turn]",
    help="undoes the changes of the newest turn, or of another: /undo 3 (asks first)",
    does=undo,
)
COMMANDS = (DIFF, UNDO)
