"""The command about commands in the background: shows them with their output, and ends one."""

from __future__ import annotations

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept

NO_TASKS = "No background commands yet."


async def tasks(context: CommandContext, words: str) -> None:
    """Show the commands in the background; `t1` shows one whole, `stop t1` ends it."""
    from keen_tui.frontends.shared.pages import TasksPage

    port = kept(context.setup.tasks, NO_TASKS)
    match words.split():
        case ["stop", id]:
            context.ui.say(await port.stop(id))
        case []:
            if not port.tasks():
                raise SessionRefused(NO_TASKS)
            await context.ui.show(TasksPage(port, ""))
        case [id]:
            port.output(id)  # refuses an id that there isn't
            await context.ui.show(TasksPage(port, id))
        case _:
            raise WordsRefused("Write /tasks, /tasks ID or /tasks stop ID.")


async def background(context: CommandContext, words: str) -> None:
    """Let the running command go on in the background."""
    kept(context.setup.tasks, NO_TASKS).move()


BACKGROUND = Command(
    id="background",
    keys=("ctrl+n",),
    in_browser="alt+n",
    label="Move the command to the background",
    slash=("background",),
    hint="background",
    help="moves the running command to the background; the turn continues",
    does=background,
)
TASKS = Command(
    id="tasks",
    keys=(),
    label="Background commands",
    slash=("tasks",),
    takes="[stop] [ID]",
    help="shows the background commands with their output; /tasks stop ID ends one",
    does=tasks,
)
COMMANDS = (BACKGROUND, TASKS)
