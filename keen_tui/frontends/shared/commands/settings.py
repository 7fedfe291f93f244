"""The command about settings, and how a changed setting takes effect."""

from __future__ import annotations

from typing import Any

from keen_tui.frontends.shared.commands.command import Command, CommandContext, kept
from keen_tui.frontends.shared.pages import SettingsPage


async def settings(context: CommandContext, words: str) -> None:
    """Show every setting, and change some."""
    port = kept(context.setup.settings, "There are no settings to change here.")
    await context.ui.show(SettingsPage(port, port.all()))


def apply_setting(context: CommandContext, name: str, value: Any) -> None:
    """Let a setting take effect now, where it can. Raises SessionRefused."""
    match name:
        case "mode":
            context.controls.set_mode(value)
        case "memory.policy":
            context.controls.set_policy(value)
        case "pending.durable" if context.setup.history:
            context.setup.history.keep_pending(value)
        case _:
            context.ui.apply_setting(name, value)


SETTINGS = Command(
    id="settings",
    keys=(),
    label="Settings",
    slash=("settings", "config"),
    help="shows and changes every setting, with its meaning and where its value comes from",
    does=settings,
)
COMMANDS = (SETTINGS,)
