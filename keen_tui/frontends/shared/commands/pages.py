"""The commands that only show a page: usage, help."""

from __future__ import annotations

from keen_tui.frontends.shared.commands.command import Command, CommandContext
from keen_tui.frontends.shared.pages import HelpPage, UsagePage


async def usage(context: CommandContext, words: str) -> None:
    """Show what the session has used."""
    await context.ui.show(UsagePage())


async def help_page(context: CommandContext, words: str) -> None:
    """Show keys and commands."""
    await context.ui.show(HelpPage(words))


USAGE = Command(
    id="usage",
    keys=(),
    label="Usage",
    slash=("usage", "cost"),
    help="shows tokens and cost of this session, by turn and in total",
    does=usage,
)
HELP = Command(
    id="help",
    keys=("f1",),
    in_browser="alt+h",
    label="Help",
    hint="help",
    slash=("help",),
    takes="[words]",
    help="shows this page, or only the lines with certain words: /help undo",
    does=help_page,
)
