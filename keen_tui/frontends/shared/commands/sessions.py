"""The commands about sessions: resume, new, fork, rename, export; and how one is opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.errors import SessionInUse
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept
from keen_tui.frontends.shared.pages import SessionsPage

if TYPE_CHECKING:
    from keen_tui.domain.reports import SavedSession
    from keen_tui.frontends.shared.history_port import HistoryPort


_NONE_KEPT = "Sessions aren't saved here."

_FORMATS: dict[str, ExportFormat] = {
    "markdown": "markdown",
    "md": "markdown",
    "json": "json",
    "html": "html",
    "htm": "html",
}


async def resume(context: CommandContext, words: str) -> None:
    """Choose among the saved sessions, all of them or those with the words."""
    await context.ui.show(SessionsPage(saved(context), words))


async def new(context: CommandContext, words: str) -> None:
    """Start an empty session."""
    if await replace(context, "Begin a new session?", saved(context).new):
        context.ui.narrate("A new session begins. The previous one stays saved.")


async def fork(context: CommandContext, words: str) -> None:
    """Continue in a copy of this session, whole or up to a turn."""
    history, turn = saved(context), fork_words(words, context.ui.turns)
    part = f"up to turn {turn}" if turn else "of this session"
    await replace(context, f"Continue in a copy {part}?", lambda: history.fork(turn=turn))


async def rename(context: CommandContext, words: str) -> None:
    """Give this session a title; without one, let it be written."""
    history, ui = saved(context), context.ui
    if not words:
        ui.write(f"/rename {ui.title}")
        ui.say("type the title, then press enter")
        return
    await history.rename(history.session_id, words)


async def export(context: CommandContext, words: str) -> None:
    """Write this session to a file."""
    history = saved(context)
    format, path = export_words(words)
    context.ui.tell_written(await history.export(format, path))


async def open_session(
    context: CommandContext,
    session: SavedSession,
    title: str,
    action: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Open that session, or a copy of it if another program has it open.

    Args:
        title: what the session is called in a question.
        action: opens it, where more is to be done than that.
    """
    from keen_tui.frontends.shared.questions import InUseQuestion

    history = saved(context)
    try:
        await replace(context, f"Open {title}?", action or (lambda: history.open(session.id)))
    except SessionInUse:
        if await context.ui.ask(InUseQuestion(title)) == "yes":
            await context.ui.replace(lambda: history.fork(session.id))


async def replace(context: CommandContext, title: str, action: Callable[[], Awaitable[None]]) -> bool:
    """Replace this session with another; ask first if that would lose work. False: it stays."""
    if not await may_replace(context, title):
        return False
    await context.ui.replace(action)
    return True


async def may_replace(context: CommandContext, title: str) -> bool:
    """Whether the incomplete turn may be abandoned for what `title` asks; yes if there is none. If the answer
    is to retry it, that is done."""
    from keen_tui.frontends.shared.questions import ReplaceQuestion

    session = context.session
    if session.pending is None:
        return True
    choice = await context.ui.ask(ReplaceQuestion(session.pending, title, session.running))
    if choice == "retry":
        context.controls.retry()
    return choice == "replace"


def saved(context: CommandContext) -> HistoryPort:
    """The saved sessions. Raises SessionRefused if there are none."""
    return kept(context.setup.history, _NONE_KEPT)


def export_words(words: str) -> tuple[ExportFormat, str]:
    """The format and the file ("" if none is named) after `/export`.

    A format in front wins over the file's suffix; a file with an unknown suffix gets Markdown.

    Raises:
        WordsRefused: one bare word that is no format: nobody calls a file "pdf".
    """
    first, _, rest = words.strip().partition(" ")
    if named := _FORMATS.get(first.lower()):
        return named, rest.strip()
    file = PurePath(words.strip())
    if words.strip() and not rest and file.name == str(file) and not file.suffix:
        raise WordsRefused(f"Unknown format {first}. Use markdown, json or html.")
    return _FORMATS.get(file.suffix[1:].lower(), "markdown"), words.strip()


def fork_words(words: str, turns: tuple[int, ...]) -> int:
    """The turn after `/fork`, 0 for none. `turns` are the existing ones.

    Raises:
        WordsRefused: there is nothing to fork, or no such turn.
    """
    if not turns:
        raise WordsRefused("Nothing to fork yet: this session has no turns.")
    if not words:
        return 0
    if words.isdecimal() and int(words) in turns:
        return int(words)
    known = f"turn {turns[0]}" if len(turns) == 1 else f"the turns {turns[0]} to {turns[-1]}"
    raise WordsRefused(f"There is no turn {words}. This session has {known}.")


SESSIONS = Command(
    id="sessions",
    keys=("f3",),
    in_browser="alt+l",
    label="Sessions",
    hint="sessions",
    slash=("resume", "sessions"),
    takes="[words]",
    help="opens a saved session; finds it by its title or by words in it",
    does=resume,
)
NEW_SESSION = Command(
    id="new_session",
    keys=(),
    label="New session",
    slash=("new", "clear"),
    help="starts an empty session; the current one stays saved",
    does=new,
)
FORK = Command(
    id="fork",
    keys=(),
    label="Fork this session",
    slash=("fork",),
    takes="[turn]",
    help="continues in a copy, whole or up to a turn: /fork 3",
    does=fork,
)
RENAME = Command(
    id="rename",
    keys=(),
    label="Rename this session",
    slash=("rename",),
    takes="[title]",
    help="changes this session's title: /rename a better title",
    does=rename,
)
EXPORT = Command(
    id="export",
    keys=(),
    label="Export this session",
    slash=("export",),
    takes="[markdown|json|html] [file]",
    help="writes this session to a file: Markdown, or /export html, or /export notes.json",
    does=export,
)
COMMANDS = (SESSIONS, NEW_SESSION, FORK, RENAME, EXPORT)
