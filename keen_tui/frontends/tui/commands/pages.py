"""The commands that only open a page."""

from __future__ import annotations

from keen_tui.frontends.tui.workspace.view import WorkspaceView


def open_usage(view: WorkspaceView) -> None:
    """Show what the session has used."""
    from keen_tui.frontends.tui.pages.usage import UsageScreen  # noqa: PLC0415 - not before the first paint

    view.open_page(UsageScreen(view.look, view.glyphs, view.state))


def open_help(view: WorkspaceView) -> None:
    """Open the help page."""
    from keen_tui.frontends.tui.pages.help import HelpScreen  # noqa: PLC0415 - not before the first paint

    view.open_page(HelpScreen(view.look, view.glyphs, view.focused_place, view.commands.custom))
