"""The command palette: what its entries do in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.widget import Widget

from keen_tui.domain.choices import Mode
from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.tui.screen.parts import Parts
from keen_tui.frontends.tui.workspace.view import WorkspaceView
from keen_tui.text.labels import MODES

if TYPE_CHECKING:
    from keen_tui.frontends.tui.pages.palette import PaletteEntry

_LATELY: Final = 5
"""How many entries that were run lately come before the others."""
_OF_PANELS: Final = {"show_row": "show", "open_row": "open_file", "diff_row": "show_changes"}
"""The panels' names for actions of the registry that they handle themselves."""


class PaletteActions:
    """Runs the entry that is chosen in the palette."""

    def __init__(self, screen: WorkspaceView, parts: Parts) -> None:
        self._screen = screen
        self._parts = parts

    @property
    def commands(self) -> SlashCommands:
        """All slash commands."""
        return self._screen.commands

    def run(self, action_id: str) -> None:
        """Run the action with that id."""
        self._screen.run(action_id)

    def run_in_pane(self, action: Action) -> None:
        """Go to the pane of that action and run it there, once the focus has arrived."""
        screen = self._screen
        pane: Widget
        if action.where == "panels":
            if not screen.sidebar.display:
                self._parts.arrangement.toggle_sidebar()
            pane, name = screen.sidebar.activity, _OF_PANELS[action.id]
        else:
            pane, name = (screen.prompt if action.where == "composer" else screen.transcript), action.id
        screen.set_focus(pane)
        screen.call_after_refresh(pane.run_action, name)

    def offer_command(self, name: str) -> None:
        """Send a command of the user, or let its arguments be written first if it takes some."""
        self._parts.outbox.offer_command(name)

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode. It never answers a question: on its way to `plan`, shift+tab passes the
        mode that would allow the edit in view."""
        screen, question = self._screen, self._screen.question_pane.question
        screen.attempt(lambda: screen.controls.set_mode(mode))
        if screen.session.mode == mode:
            is_asked = question is not None and question.interrupts
            open_question = " The open question still needs your answer." if is_asked else ""
            screen.say(f"Mode {mode}: {MODES[mode]}.{open_question}")

    def keep_theme(self, name: str) -> None:
        """Use a theme from now on."""
        self._parts.settings.keep_theme(name)


class CommandPalette:
    """Opens the palette: first what applies now, then what was run from it lately."""

    def __init__(self, screen: WorkspaceView, parts: Parts) -> None:
        self._screen = screen
        self._parts = parts
        self._lately: list[str] = []

    def toggle(self) -> None:
        """Open it, or close it."""
        from keen_tui.frontends.tui.pages.palette import Palette  # noqa: PLC0415 - not before the first paint
        from keen_tui.frontends.tui.pages.palette_entries import applying, palette_entries  # noqa: PLC0415

        screen = self._screen
        if isinstance(screen.app.screen, Palette):
            screen.app.screen.dismiss(None)
            return
        first = dict.fromkeys((*applying(screen.state), *self._lately[:_LATELY]))
        entries = palette_entries(
            PaletteActions(screen, self._parts), self._parts.settings.theme_names, tuple(first)
        )
        screen.open_page(Palette(screen.look, screen.glyphs, entries), self._chosen)

    def _chosen(self, entry: PaletteEntry | None) -> None:
        if entry:
            self._lately = [entry.id, *(each for each in self._lately if each != entry.id)]
            entry.run()
